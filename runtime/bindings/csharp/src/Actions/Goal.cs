// What is known of a goal: its number, where it stands, and what it came to.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net
{
    /// <summary>What a goal is known by: 16 bytes, as ROS 2's UUID.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct GoalId : IEquatable<GoalId>
    {
        private readonly ulong first, second;

        /// <summary>Whether they are the same.</summary>
        public bool Equals(GoalId other) => first == other.first && second == other.second;

        /// <summary>Whether they are the same.</summary>
        public override bool Equals(object other) => other is GoalId id && Equals(id);

        /// <summary>A number for tables.</summary>
        public override int GetHashCode() => (first ^ second).GetHashCode();
    }

    /// <summary>Where a goal stands; the numbers are those of ROS 2.</summary>
    public enum GoalStatus : uint
    {
        /// <summary>Nothing is known yet.</summary>
        Unknown = 0,
        /// <summary>The server has taken it, and does not work on it yet.</summary>
        Accepted = 1,
        /// <summary>The server works on it.</summary>
        Executing = 2,
        /// <summary>It is to be canceled, and the server has yet to end it.</summary>
        Canceling = 3,
        /// <summary>It was reached.</summary>
        Succeeded = 4,
        /// <summary>It was canceled.</summary>
        Canceled = 5,
        /// <summary>The server gave it up.</summary>
        Aborted = 6,
    }

    /// <summary>What ended a goal, or has it end.</summary>
    public enum GoalCause : uint
    {
        /// <summary>The server's program decided so.</summary>
        Program = 0,
        /// <summary>Another goal runs, and the server takes no other meanwhile, or has no room for more.</summary>
        Busy = 1,
        /// <summary>A newer goal took its place.</summary>
        Replaced = 2,
        /// <summary>Its client is gone.</summary>
        ClientGone = 3,
        /// <summary>A client canceled it.</summary>
        Canceled = 4,
        /// <summary>It cannot be read: both programs have to be built from the same type.</summary>
        Unreadable = 5,
        /// <summary>A living goal has the same number.</summary>
        Twice = 6,
        /// <summary>The server's result cannot be sent.</summary>
        NoResult = 7,
    }

    /// <summary>What becomes of a goal that comes while another one runs.</summary>
    public enum Preemption : uint
    {
        /// <summary>The new one is rejected.</summary>
        Refuse = 0,
        /// <summary>It is accepted, and waits until its turn comes.</summary>
        Queue = 1,
        /// <summary>It takes the place of the other, which is aborted, or ends as canceled if it is canceling.</summary>
        Replace = 2,
    }

    /// <summary>What there is to tell of a goal.</summary>
    public enum News : uint
    {
        /// <summary>Nothing new.</summary>
        Nothing = 0,
        /// <summary>The server has taken it.</summary>
        Accepted = 1,
        /// <summary>How far it is.</summary>
        Feedback = 2,
        /// <summary>It has ended.</summary>
        Ended = 3,
    }

    /// <summary>A goal that runs, from the side of the server: it stays the one that runs until it is ended.</summary>
    public readonly struct Goal<G> where G : unmanaged
    {
        /// <summary>What it is known by.</summary>
        public readonly GoalId Id;
        /// <summary>What is to be reached.</summary>
        public readonly G Value;
        /// <summary>Where it stands: <see cref="GoalStatus.Executing"/>, or <see cref="GoalStatus.Canceling"/>.</summary>
        public readonly GoalStatus Status;
        /// <summary>Why it is to be canceled.</summary>
        public readonly GoalCause Cause;
        /// <summary>Whether the program is handed the goal for the first time.</summary>
        public readonly bool IsNew;
        /// <summary>When it was accepted, in nanoseconds on CLOCK_MONOTONIC.</summary>
        public readonly ulong AcceptedNs;

        /// <summary>Whether it is to be canceled: then end it by <c>Canceled</c>, as soon as what moves stands.</summary>
        public bool IsCanceling => Status == GoalStatus.Canceling;

        internal Goal(in Native.NativeGoal about, in G value)
        {
            Id = about.Id;
            Value = value;
            Status = (GoalStatus)about.Status;
            Cause = (GoalCause)about.Cause;
            IsNew = about.IsNew != 0;
            AcceptedNs = about.AcceptedNs;
        }
    }

    /// <summary>News of a goal.</summary>
    public struct Progress<F, R> where F : unmanaged where R : unmanaged
    {
        /// <summary>What it is.</summary>
        public News News;
        /// <summary>How far the goal is, where that is the news.</summary>
        public F Feedback;
        /// <summary>What it came to, where it has ended and <see cref="HasResult"/>.</summary>
        public R Result;
        /// <summary>Of a goal that has ended: how.</summary>
        public GoalStatus Status;
        /// <summary>Of a goal that has ended: what ended it.</summary>
        public GoalCause Cause;
        /// <summary>Of a goal that has ended: whether it has a result.</summary>
        public bool HasResult;
        /// <summary>Of a goal that has ended: why, for people; empty where nothing is said.</summary>
        public string Reason;
    }
}
