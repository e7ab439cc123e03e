// The functions of horus.h for services; as in TopicFunctions, every argument is blittable.

using System;
using System.Runtime.InteropServices;

namespace Horus.Net.Native
{
    internal static unsafe class ServiceFunctions
    {
        private const string Name = Library.Name;

        [DllImport(Name)]
        internal static extern IntPtr horus_server_open(byte* service, IntPtr request, IntPtr answer, NativeOptions* options);
        [DllImport(Name)]
        internal static extern IntPtr horus_app_server(IntPtr app, byte* service, IntPtr request, IntPtr answer, NativeOptions* options);
        [DllImport(Name)]
        internal static extern int horus_server_next(IntPtr server, void* request, ulong bytes, ulong* length, Ticket* ticket, long timeoutNs);
        [DllImport(Name)] internal static extern int horus_server_answer(IntPtr server, Ticket* ticket, void* answer, ulong bytes);
        [DllImport(Name)] internal static extern int horus_server_part(IntPtr server, Ticket* ticket, void* part, ulong bytes);
        [DllImport(Name)] internal static extern int horus_server_end(IntPtr server, Ticket* ticket);
        [DllImport(Name)] internal static extern int horus_server_refuse(IntPtr server, Ticket* ticket);
        [DllImport(Name)] internal static extern ulong horus_server_undelivered(IntPtr server);
        [DllImport(Name)] internal static extern int horus_server_close(IntPtr server);

        [DllImport(Name)]
        internal static extern IntPtr horus_client_open(byte* service, IntPtr request, IntPtr answer, NativeOptions* options);
        [DllImport(Name)]
        internal static extern IntPtr horus_app_client(IntPtr app, byte* service, IntPtr request, IntPtr answer, NativeOptions* options);
        [DllImport(Name)] internal static extern int horus_client_ask(IntPtr client, void* request, ulong bytes, ulong* call);
        [DllImport(Name)] internal static extern int horus_client_answer(IntPtr client, ulong call, void* answer, ulong bytes, ulong* length);
        [DllImport(Name)] internal static extern int horus_client_part(IntPtr client, ulong call, void* part, ulong bytes, ulong* length);
        [DllImport(Name)] internal static extern int horus_client_give_up(IntPtr client, ulong call);
        [DllImport(Name)] internal static extern int horus_client_wait(IntPtr client, long timeoutNs);
        [DllImport(Name)] internal static extern int horus_client_check_server(IntPtr client);
        [DllImport(Name)] internal static extern int horus_client_is_served(IntPtr client);
        [DllImport(Name)] internal static extern ulong horus_client_late(IntPtr client);
        [DllImport(Name)] internal static extern ulong horus_client_unanswered(IntPtr client);
        [DllImport(Name)] internal static extern int horus_client_close(IntPtr client);
    }
}
