// How a topic is made and joined: `Options.Latest(8).Stamped()`.

using System;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>How a topic is made and joined. Without options it is as suits most.</summary>
    public sealed class Options
    {
        private const uint LatestPolicy = 1, ReliablePolicy = 2;
        private const uint SpinStrategy = 1, SleepStrategy = 2, PollStrategy = 3, SpinThenSleepStrategy = 4;

        private uint deliveryPolicy, capacity, publishers, history, waitStrategy, stamped, neverWake, latched, shared;
        private ulong waitStrategyNs;
        private string directory, group;

        /// <summary>The oldest message is overwritten, and every loss is counted.</summary>
        /// <param name="capacity">Messages that a publisher's lane holds, a power of two from 1 to 2^20.</param>
        public static Options Latest(int capacity) => new Options { deliveryPolicy = LatestPolicy, capacity = Count(capacity) };

        /// <summary>Sending is refused, or waits, while there is no room; nothing is lost.</summary>
        /// <param name="capacity">Messages that a publisher's lane holds, a power of two from 1 to 2^20.</param>
        public static Options Reliable(int capacity) => new Options { deliveryPolicy = ReliablePolicy, capacity = Count(capacity) };

        /// <summary>Publishers at a time, 1 to 63.</summary>
        public Options Publishers(int count) => With(() => publishers = Count(count));

        /// <summary>Of a subscriber: messages sent before it joined that it wants of each publisher.</summary>
        public Options History(int messages) => With(() => history = Count(messages));

        /// <summary>Of a publisher: stamps each message with the time of sending.</summary>
        public Options Stamped() => With(() => stamped = 1);

        /// <summary>Waits busily: the fastest, on a CPU of one's own.</summary>
        public Options Spin() => With(() => waitStrategy = SpinStrategy);

        /// <summary>Sleeps at once.</summary>
        public Options Sleep() => With(() => waitStrategy = SleepStrategy);

        /// <summary>Looks once in so long a time, and sleeps meanwhile.</summary>
        public Options Poll(TimeSpan every) => Waits(PollStrategy, every);

        /// <summary>Waits busily for so long, and then sleeps.</summary>
        public Options SpinThenSleep(TimeSpan spin) => Waits(SpinThenSleepStrategy, spin);

        /// <summary>Publishers wake no subscriber, so that sending never makes a system call: subscribers look busily or by the clock.</summary>
        public Options NeverWake() => With(() => neverWake = 1);

        /// <summary>Who comes late gets the newest message of every publisher, living or gone: of a publisher, the topic stays when all its users are gone.</summary>
        public Options Latched() => With(() => latched = 1);

        /// <summary>Of a server: clients at a time, 8 to 63; 8 if not said otherwise.</summary>
        public Options Clients(int count) => Publishers(count);

        /// <summary>Of a service: up to 8 servers serve it, and each request goes to one of them. All of its servers and clients say so, or none.</summary>
        public Options Shared() => With(() => shared = 1);

        /// <summary>The folder of the topic's file; $HORUS_SHM_DIR or /dev/shm/horus if not said otherwise.</summary>
        public Options Directory(string path) => With(() => directory = path);

        /// <summary>The group whose members may use the topic; no other user may if not said otherwise.</summary>
        public Options Group(string name) => With(() => group = name);

        /// <summary>Calls with the options as C reads them: null for none, as for C.</summary>
        internal static unsafe IntPtr Lend(Options options, LentTo call)
        {
            if (options == null) return call(null);
            byte[] directory = options.directory == null ? null : Text.ToNative(options.directory, nameof(Directory));
            byte[] group = options.group == null ? null : Text.ToNative(options.group, nameof(Group));
            fixed (byte* directoryText = directory, groupText = group)
            {
                var native = new NativeOptions
                {
                    Size = new UIntPtr((uint)sizeof(NativeOptions)),
                    DeliveryPolicy = options.deliveryPolicy, Capacity = options.capacity, Publishers = options.publishers, History = options.history,
                    WaitStrategy = options.waitStrategy, Stamped = options.stamped, Directory = directoryText, Group = groupText,
                    WaitStrategyNs = options.waitStrategyNs, NeverWake = options.neverWake, Latched = options.latched,
                    Shared = options.shared,
                };
                return call(&native);
            }
        }

        internal unsafe delegate IntPtr LentTo(NativeOptions* options);

        private Options With(Action change)
        {
            change();
            return this;
        }

        private Options Waits(uint how, TimeSpan span)
        {
            waitStrategy = how;
            waitStrategyNs = Limit.Span(span);
            return this;
        }

        // What is negative the library refuses as too many, in its own sentence.
        private static uint Count(int count) => unchecked((uint)count);
    }
}
