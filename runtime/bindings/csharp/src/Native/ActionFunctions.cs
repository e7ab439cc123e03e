// The functions of horus.h for actions; as in TopicFunctions, every argument is blittable.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net.Native
{
    /// <summary><c>horus_goal</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeGoal
    {
        public GoalId Id;
        public uint Status, Cause, IsNew, Spare;
        public ulong AcceptedNs;
    }

    /// <summary><c>horus_progress</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeProgress
    {
        public const int ReasonBytes = 96;
        public uint News, Status, Cause, HasResult;
        public fixed byte Reason[ReasonBytes];
    }

    internal static unsafe class ActionFunctions
    {
        private const string Name = Library.Name;

        [DllImport(Name)]
        internal static extern IntPtr horus_action_server_open(byte* action, IntPtr goal, IntPtr feedback, IntPtr result, uint policy, NativeOptions* options);
        [DllImport(Name)]
        internal static extern IntPtr horus_app_action_server(
            IntPtr app, byte* action, IntPtr goal, IntPtr feedback, IntPtr result, uint policy, NativeOptions* options);
        [DllImport(Name)]
        internal static extern int horus_action_server_goal(IntPtr server, void* goal, ulong bytes, NativeGoal* about, long timeoutNs);
        [DllImport(Name)] internal static extern int horus_action_server_feedback(IntPtr server, GoalId* id, void* feedback, ulong bytes);
        [DllImport(Name)] internal static extern int horus_action_server_succeed(IntPtr server, GoalId* id, void* result, ulong bytes);
        [DllImport(Name)] internal static extern int horus_action_server_canceled(IntPtr server, GoalId* id, void* result, ulong bytes);
        [DllImport(Name)] internal static extern int horus_action_server_abort(IntPtr server, GoalId* id, void* result, ulong bytes, byte* why);
        [DllImport(Name)] internal static extern int horus_action_server_close(IntPtr server);

        [DllImport(Name)]
        internal static extern IntPtr horus_action_client_open(byte* action, IntPtr goal, IntPtr feedback, IntPtr result, NativeOptions* options);
        [DllImport(Name)]
        internal static extern IntPtr horus_app_action_client(
            IntPtr app, byte* action, IntPtr goal, IntPtr feedback, IntPtr result, NativeOptions* options);
        [DllImport(Name)] internal static extern int horus_action_client_send(IntPtr client, void* goal, ulong bytes, GoalId* id);
        [DllImport(Name)]
        internal static extern int horus_action_client_look(
            IntPtr client, GoalId* id, void* feedback, ulong feedbackBytes, void* result, ulong resultBytes, NativeProgress* progress);
        [DllImport(Name)] internal static extern int horus_action_client_cancel(IntPtr client, GoalId* id);
        [DllImport(Name)] internal static extern int horus_action_client_wait(IntPtr client, long timeoutNs);
        [DllImport(Name)] internal static extern int horus_action_client_check_server(IntPtr client);
        [DllImport(Name)] internal static extern int horus_action_client_wait_until_served(IntPtr client, long timeoutNs);
        [DllImport(Name)] internal static extern int horus_action_client_close(IntPtr client);
    }
}
