// Entries of the journal.

using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>How serious an entry of the journal is.</summary>
    public enum JournalPriority
    {
        /// <summary>Failed: a person has to act.</summary>
        Error = 3,
        /// <summary>Worth a look.</summary>
        Warning = 4,
        /// <summary>The normal course of things.</summary>
        Info = 6,
    }

    /// <summary>Writes to the journal, or prints to stderr where there is none. It makes objects and system calls: not for a step.</summary>
    public static unsafe class Journal
    {
        /// <summary>An entry.</summary>
        /// <param name="priority">How serious it is.</param>
        /// <param name="message">Its sentence.</param>
        /// <param name="fields">More of it: each name is HORUS_ and then A-Z, 0-9 and _.</param>
        public static void Write(JournalPriority priority, string message, params KeyValuePair<string, string>[] fields)
        {
            Library.Load();
            Written(priority, message, fields);
        }

        [MethodImpl(Calls.Cold)]
        private static void Written(JournalPriority priority, string message, KeyValuePair<string, string>[] fields)
        {
            var texts = new List<GCHandle>();
            try
            {
                var native = new NativeField[fields.Length];
                for (int i = 0; i < fields.Length; i++)
                    native[i] = new NativeField { Name = Pin(fields[i].Key, texts), Value = Pin(fields[i].Value, texts) };
                int status;
                fixed (NativeField* all = native)
                    status = TopicFunctions.horus_journal((uint)priority, Pin(message, texts), all, (ulong)fields.Length);
                Status.IsDone(status);
            }
            finally
            {
                foreach (GCHandle text in texts) text.Free();
            }
        }

        private static byte* Pin(string text, List<GCHandle> texts)
        {
            var pinned = GCHandle.Alloc(Text.ToNative(text, "message"), GCHandleType.Pinned);
            texts.Add(pinned);
            return (byte*)pinned.AddrOfPinnedObject();
        }
    }
}
