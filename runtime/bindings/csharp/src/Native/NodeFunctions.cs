// The functions of horus.h for programs of nodes and for worlds; as in TopicFunctions, every argument is blittable.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net.Native
{
    internal static unsafe class NodeFunctions
    {
        private const string Name = Library.Name;

        [DllImport(Name)] internal static extern IntPtr horus_app_new(byte* name);
        [DllImport(Name)] internal static extern IntPtr horus_app_input(IntPtr app, byte* topic, IntPtr layout, NativeOptions* options);
        [DllImport(Name)] internal static extern IntPtr horus_app_output(IntPtr app, byte* topic, IntPtr layout, NativeOptions* options);
        [DllImport(Name)] internal static extern IntPtr horus_app_node(IntPtr app, byte* name, IntPtr step, IntPtr context);
        [DllImport(Name)] internal static extern int horus_app_chain(IntPtr app, byte** nodes, ulong count, ulong endToEndNs);
        [DllImport(Name)] internal static extern int horus_app_releases(IntPtr app, ulong releases);
        [DllImport(Name)] internal static extern int horus_app_strict(IntPtr app);
        [DllImport(Name)] internal static extern int horus_app_grace_ns(IntPtr app, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_app_refuse(IntPtr app, byte* why);
        [DllImport(Name)] internal static extern int horus_app_run(IntPtr app);
        [DllImport(Name)] internal static extern int horus_app_run_in_place(IntPtr app, ulong releases);
        [DllImport(Name)] internal static extern int horus_app_close(IntPtr app);

        [DllImport(Name)] internal static extern int horus_node_period_ns(IntPtr node, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_node_phase_ns(IntPtr node, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_node_min_inter_arrival_ns(IntPtr node, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_node_budget_ns(IntPtr node, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_node_deadline_ns(IntPtr node, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_node_stale_after_ns(IntPtr node, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_node_stale_after_of_ns(IntPtr node, byte* topic, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_node_monitor_limit_ns(IntPtr node, ulong nanoseconds);
        [DllImport(Name)] internal static extern int horus_node_on(IntPtr node, byte* topic);
        [DllImport(Name)] internal static extern int horus_node_cpu(IntPtr node, byte* cpu);
        [DllImport(Name)] internal static extern int horus_node_scheduling_policy(IntPtr node, byte* policy);
        [DllImport(Name)] internal static extern int horus_node_on_miss(IntPtr node, uint reaction, uint after, uint within);
        [DllImport(Name)] internal static extern int horus_node_degrade(IntPtr node, uint every, uint after, uint within);
        [DllImport(Name)] internal static extern int horus_node_safe_state(IntPtr node, IntPtr safeState);
        [DllImport(Name)] internal static extern int horus_node_logical_execution_time(IntPtr node);
        [DllImport(Name)] internal static extern int horus_cycle_fail(Cycle* cycle, byte* why);
        [DllImport(Name)]
        internal static extern int horus_cycle_log(Cycle* cycle, uint level, byte* text, NativeLogValue* values, ulong count);

        [DllImport(Name)] internal static extern int horus_input_latest(IntPtr input, void* message, ulong bytes, Received* about);
        [DllImport(Name)] internal static extern int horus_input_fresh(IntPtr input, void* message, ulong bytes, Received* about);
        [DllImport(Name)] internal static extern int horus_input_next(IntPtr input, void* message, ulong bytes, Received* about);
        [DllImport(Name)] internal static extern ulong horus_input_missed(IntPtr input);
        [DllImport(Name)] internal static extern int horus_output_set(IntPtr output, void* message, ulong bytes);
        [DllImport(Name)] internal static extern int horus_output_lost(IntPtr output, Lost* lost);

        [DllImport(Name)] internal static extern IntPtr horus_world_new(IntPtr declare, IntPtr context);
        [DllImport(Name)] internal static extern IntPtr horus_world_with_settings(byte* file, IntPtr declare, IntPtr context);
        [DllImport(Name)] internal static extern ulong horus_world_now_ns(IntPtr world);
        [DllImport(Name)] internal static extern int horus_world_run_for(IntPtr world, ulong nanoseconds);
        [DllImport(Name)]
        internal static extern int horus_world_publish(IntPtr world, byte* topic, IntPtr layout, void* message, ulong bytes);
        [DllImport(Name)]
        internal static extern int horus_world_last(IntPtr world, byte* topic, IntPtr layout, void* message, ulong bytes, Received* about);
        [DllImport(Name)] internal static extern int horus_world_tally(IntPtr world, byte* node, Tally* tally);
        [DllImport(Name)] internal static extern byte* horus_world_journal(IntPtr world, ulong index);
        [DllImport(Name)] internal static extern int horus_world_delay(IntPtr world, byte* node, ulong nanoseconds, ulong cycles);
        [DllImport(Name)] internal static extern int horus_world_takes(IntPtr world, byte* node, ulong nanoseconds, ulong cycles);
        [DllImport(Name)] internal static extern int horus_world_lose(IntPtr world, byte* topic, ulong messages);
        [DllImport(Name)] internal static extern int horus_world_close(IntPtr world);
    }
}
