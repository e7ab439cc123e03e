// The functions of horus.h for layouts, topics, waiting and the journal. Every argument is blittable, so a call copies nothing and makes no
// object. The handles are pointers; `Owned` keeps them.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net.Native
{
    internal static unsafe class TopicFunctions
    {
        private const string Name = Library.Name;

        [DllImport(Name)] internal static extern byte* horus_error();
        [DllImport(Name)] internal static extern int horus_journal(uint priority, byte* message, NativeField* fields, ulong count);

        [DllImport(Name)] internal static extern IntPtr horus_layout_parse(byte* description);
        [DllImport(Name)] internal static extern IntPtr horus_layout_of_bytes(ulong maximum);
        [DllImport(Name)] internal static extern ulong horus_layout_hash(IntPtr layout);
        [DllImport(Name)] internal static extern ulong horus_layout_bytes(IntPtr layout);
        [DllImport(Name)] internal static extern int horus_layout_close(IntPtr layout);

        [DllImport(Name)] internal static extern IntPtr horus_publisher_open(byte* topic, IntPtr layout, NativeOptions* options);
        [DllImport(Name)] internal static extern int horus_publisher_try_send(IntPtr publisher, void* message, ulong bytes);
        [DllImport(Name)] internal static extern int horus_publisher_send(IntPtr publisher, void* message, ulong bytes, long timeoutNs);
        [DllImport(Name)] internal static extern int horus_publisher_loan(IntPtr publisher, ulong bytes, void** place);
        [DllImport(Name)] internal static extern int horus_publisher_publish(IntPtr publisher, ulong bytes);
        [DllImport(Name)] internal static extern int horus_publisher_discard(IntPtr publisher);
        [DllImport(Name)] internal static extern ulong horus_publisher_subscribers(IntPtr publisher);
        [DllImport(Name)] internal static extern ulong horus_publisher_reap(IntPtr publisher);
        [DllImport(Name)] internal static extern int horus_publisher_check(IntPtr publisher);
        [DllImport(Name)] internal static extern int horus_publisher_close(IntPtr publisher);

        [DllImport(Name)] internal static extern IntPtr horus_subscriber_open(byte* topic, IntPtr layout, NativeOptions* options);
        [DllImport(Name)]
        internal static extern int horus_subscriber_try_recv(IntPtr subscriber, void* message, ulong bytes, Received* about);
        [DllImport(Name)]
        internal static extern int horus_subscriber_recv(IntPtr subscriber, void* message, ulong bytes, Received* about, long timeoutNs);
        [DllImport(Name)] internal static extern int horus_subscriber_borrow(IntPtr subscriber, void** message, Received* about);
        [DllImport(Name)] internal static extern int horus_subscriber_release(IntPtr subscriber);
        [DllImport(Name)] internal static extern ulong horus_subscriber_missed(IntPtr subscriber);
        [DllImport(Name)] internal static extern int horus_subscriber_is_published(IntPtr subscriber);
        [DllImport(Name)] internal static extern int horus_subscriber_check(IntPtr subscriber);
        [DllImport(Name)] internal static extern int horus_subscriber_close(IntPtr subscriber);

        [DllImport(Name)] internal static extern int horus_wait_any(IntPtr* subscribers, ulong count, long timeoutNs, ulong* ready);
    }
}
