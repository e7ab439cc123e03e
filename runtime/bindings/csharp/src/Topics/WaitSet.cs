// Waiting for several topics at once.

using System;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>Subscribers, of messages and of bytes, that are waited for together. Waiting makes no object.</summary>
    public sealed unsafe class WaitSet
    {
        private readonly AnySubscriber[] subscribers;
        private readonly IntPtr[] handles;

        /// <summary>A set of 1 to 64 subscribers. While an earlier one has messages, later ones are not looked at.</summary>
        public WaitSet(params AnySubscriber[] subscribers)
        {
            if (subscribers == null) throw new ArgumentNullException(nameof(subscribers));
            foreach (AnySubscriber subscriber in subscribers)
                if (subscriber == null) throw new ArgumentNullException(nameof(subscribers), "a subscriber of the set is null");
            Library.Load();
            this.subscribers = (AnySubscriber[])subscribers.Clone();
            handles = new IntPtr[subscribers.Length];
        }

        /// <summary>Waits until one of them has something to receive, and gives its place in the set; -1 when the time is up.</summary>
        public int Wait(TimeSpan limit)
        {
            int entered = 0;
            try
            {
                for (; entered < handles.Length; entered++) handles[entered] = subscribers[entered].EnterToWait();
                long left = Limit.Nanoseconds(limit);
                ulong ready = 0;
                int status;
                fixed (IntPtr* all = handles)
                    do status = TopicFunctions.horus_wait_any(all, (ulong)handles.Length, Limit.Slice(ref left), &ready);
                    while (status == Status.Empty && left != 0);
                return Status.IsDone(status) ? (int)ready : -1;
            }
            finally
            {
                while (entered > 0) subscribers[--entered].LeaveWaiting();
            }
        }
    }
}
