// Topics: by copy, in place, of bytes, several at once, and that none of it makes objects.

using System;
using System.Linq;
using System.Text;
using System.Threading;
using Horus.Net;
using Horus.Net.Messages;

[Message("example/WheelSpeed")]
internal struct WheelSpeed
{
    public double Left, Right;
}

internal static class Topics
{
    private static int Main()
    {
        ByCopy();
        InPlace();
        OfBytes();
        SeveralAtOnce();
        ByForeach();
        ByEvent();
        FromThreadToThread();
        WithLargeMessages();
        WithWaitStrategies();
        MakeNoObjects();
        return Check.Done();
    }

    private static void ByCopy()
    {
        using var subscriber = new Subscriber<WheelSpeed>("wheels", Options.Reliable(4));
        using var publisher = new Publisher<WheelSpeed>("wheels", Options.Reliable(4).Stamped());
        Check.That(!subscriber.TryRecv(out WheelSpeed got) && publisher.Subscribers == 1 && subscriber.IsPublished);
        Check.That(publisher.TrySend(new WheelSpeed { Left = 0.5, Right = 0.25 }));
        Check.That(subscriber.TryRecv(out got, out Received about) && got.Left == 0.5 && got.Right == 0.25);
        Check.That(about.Sequence == 0 && about.SentNs > 0);
        for (int i = 0; i < 4; i++) publisher.Send(new WheelSpeed { Left = i });
        Check.That(!publisher.TrySend(default) && !publisher.Send(default, TimeSpan.FromMilliseconds(1)) && publisher.Reap() == 0);
        Check.That(subscriber.Recv().Left == 0 && subscriber.Recv(out got, TimeSpan.FromSeconds(10)) && got.Left == 1);
        publisher.Check();
        subscriber.Check();
        using var latest = new Publisher<WheelSpeed>("overwritten", Options.Latest(2));
        using var slow = new Subscriber<WheelSpeed>("overwritten");
        for (int i = 0; i < 100; i++) Check.That(latest.TrySend(new WheelSpeed { Left = i }));
        Check.That(slow.TryRecv(out got) && slow.Missed > 90 && slow.Missed == (long)got.Left);
        Check.That(!slow.Recv(out got, TimeSpan.Zero) || got.Left == 99);
        Check.That(!subscriber.Recv(out got, TimeSpan.FromSeconds(-5)) || got.Left == 2); // a time that is over is none, and not for ever
    }

    private static void InPlace()
    {
        using var subscriber = new Subscriber<Imu>("imu", Options.Reliable(4));
        using var publisher = new Publisher<Imu>("imu", Options.Reliable(4));
        using (var loan = publisher.Loan())
        {
            loan.Value.StampNs = 7;
            loan.Value.AngularVelocity.Y = 0.5;
            loan.Value.OrientationCovariance[8] = 9;
            Check.That(loan.Bytes.Length == 304);
            loan.Publish();
        }
        using (var unsent = publisher.Loan()) unsent.Value.StampNs = 8;
        using (var sample = subscriber.Borrow())
        {
            ref readonly Imu imu = ref sample.Value;
            Check.That(imu.StampNs == 7 && imu.AngularVelocity.Y == 0.5 && imu.OrientationCovariance[8] == 9 && sample.Bytes[0] == 7);
            string said = Check.Refused<HorusException>(() => subscriber.TryRecv(out _));
            Check.That(said.Contains("is lent: release it first"));
        }
        using (var none = subscriber.Borrow()) Check.That(none.IsEmpty && subscriber.Missed == 0);
    }

    private static void OfBytes()
    {
        using var subscriber = new Subscriber<byte>("log", 64);
        using var publisher = new Publisher<byte>("log", 64);
        Check.That(publisher.TrySend(Encoding.UTF8.GetBytes("left wheel slips")) && publisher.TrySend(ReadOnlySpan<byte>.Empty));
        var room = new byte[64];
        Check.That(subscriber.TryRecv(room, out int length) && Encoding.UTF8.GetString(room, 0, length) == "left wheel slips");
        Check.That(subscriber.Recv(room, out length, TimeSpan.FromSeconds(10)) && length == 0 && !subscriber.TryRecv(room, out _));
        using (var loan = publisher.Loan(10))
        {
            loan.Bytes.Fill(3);
            loan.Publish(4);
        }
        using (var sample = subscriber.Borrow())
            Check.That(sample.Bytes.SequenceEqual(new byte[] { 3, 3, 3, 3 }) && sample.About.Bytes == 4 && sample.Value == 3);
        string said = Check.Refused<HorusException>(() => publisher.TrySend(new byte[65]));
        Check.That(said.Contains("65 bytes is too long"));
        Check.That(Check.Refused<HorusException>(() => subscriber.Need(publisher, room)).Contains("64"));
        // What is no matter of a message's length is the same for structs and for bytes.
        Check.That(subscriber.Missed == 0 && subscriber.IsPublished && publisher.Subscribers == 1 && publisher.Reap() == 0);
        publisher.Check();
        subscriber.Check();
        publisher.Send(new byte[] { 7, 8 });
        Check.That(subscriber.TryRecv(room, out length, out Received about) && length == 2 && about.Bytes == 2 && about.Sequence > 0);
        publisher.Send(new byte[] { 9 }, TimeSpan.Zero);
        Check.That(subscriber.Recv(room, out length, out about, TimeSpan.Zero) && about.Bytes == 1 && room[0] == 9);
        var longer = new byte[80];
        var coming = subscriber.RecvAsync(new Memory<byte>(longer, 8, 64));
        publisher.Send(new byte[] { 1, 2, 3 });
        Check.That(coming.Wait(TimeSpan.FromSeconds(60)) && coming.Result == 3 && longer[7] == 0 && longer[8] == 1 && longer[10] == 3);
        publisher.Send(new byte[] { 4 });
        Check.That(subscriber.RecvAsync(room).Result == 1 && room[0] == 4);
    }

    /// <summary>Room that is too small for the longest message.</summary>
    private static void Need(this Subscriber<byte> subscriber, Publisher<byte> publisher, byte[] room)
    {
        publisher.Send(new byte[64]);
        try
        {
            subscriber.TryRecv(new Span<byte>(room, 0, 8), out _);
        }
        finally
        {
            subscriber.TryRecv(room, out _);
        }
    }

    private static void SeveralAtOnce()
    {
        using var log = new Publisher<byte>("events", 16);
        using var logged = new Subscriber<byte>("events", 16);
        using var wheels = new Publisher<WheelSpeed>("wheels2");
        using var seen = new Subscriber<WheelSpeed>("wheels2");
        var set = new WaitSet(logged, seen);
        Check.That(set.Wait(TimeSpan.FromMilliseconds(1)) == -1);
        wheels.Send(default);
        Check.That(set.Wait(Limit.Forever) == 1);
        log.Send(new byte[1]);
        Check.That(set.Wait(Limit.Forever) == 0);
    }

    private static void ByForeach()
    {
        using var subscriber = new Subscriber<WheelSpeed>("many", Options.Reliable(8));
        using var publisher = new Publisher<WheelSpeed>("many", Options.Reliable(8));
        for (int i = 0; i < 5; i++) publisher.Send(new WheelSpeed { Left = i });
        double sum = 0;
        foreach (WheelSpeed speed in subscriber.Messages(TimeSpan.FromMilliseconds(1))) sum += speed.Left;
        Check.That(sum == 10);
        publisher.Send(default);
        Check.That(subscriber.WaitAsync().Wait(TimeSpan.FromSeconds(60)) && subscriber.TryRecv(out _));
        using var stop = new CancellationTokenSource();
        var waiting = subscriber.WaitAsync(stop.Token);
        stop.Cancel();
        Check.That(Check.Refused<AggregateException>(() => waiting.Wait()) != null && waiting.IsCanceled);
#if NETCOREAPP
        publisher.Send(new WheelSpeed { Left = 42 });
        Check.That(FirstOf(subscriber).Result == 42);
#endif
    }

#if NETCOREAPP
    private static async System.Threading.Tasks.Task<double> FirstOf(Subscriber<WheelSpeed> subscriber)
    {
        await foreach (WheelSpeed speed in subscriber.MessagesAsync()) return speed.Left;
        return -1;
    }
#endif

    private static void ByEvent()
    {
        double sum = 0;
        var enough = new ManualResetEventSlim();
        using var publisher = new Publisher<WheelSpeed>("event", Options.Reliable(8));
        using (var listener = new Listener<WheelSpeed>("event", Options.Reliable(8)))
        {
            listener.Message += (in WheelSpeed speed) =>
            {
                sum += speed.Left;
                if (sum == 10) enough.Set();
            };
            for (int i = 0; i < 5; i++) publisher.Send(new WheelSpeed { Left = i });
            Check.That(sum == 0); // not before its start
            listener.Start();
            Check.That(enough.Wait(TimeSpan.FromSeconds(60)));
            Check.Refused<InvalidOperationException>(listener.Start);
        }
        publisher.Send(new WheelSpeed { Left = 100 });
        Check.That(sum == 10); // not after its end
    }

    private static void FromThreadToThread()
    {
        const int count = 20000;
        using var subscriber = new Subscriber<WheelSpeed>("threads", Options.Reliable(64));
        var sender = new Thread(() =>
        {
            using var publisher = new Publisher<WheelSpeed>("threads", Options.Reliable(64));
            for (int i = 0; i < count; i++) publisher.Send(new WheelSpeed { Left = i, Right = -i });
        });
        sender.Start();
        for (int i = 0; i < count; i++)
        {
            WheelSpeed got = subscriber.Recv();
            Check.That(got.Left == i && got.Right == -i);
        }
        sender.Join();
    }

    private static void WithLargeMessages()
    {
        using var subscriber = new Subscriber<ImageVga>("image", Options.Reliable(2));
        using var publisher = new Publisher<ImageVga>("image", Options.Reliable(2));
        var pixels = Enumerable.Range(0, ImageVga.DataArray.Length).Select(i => (byte)i).ToArray();
        using (var loan = publisher.Loan())
        {
            loan.Value.Data.CopyFrom(pixels);
            loan.Publish();
        }
        using var sample = subscriber.Borrow();
        var copy = new byte[pixels.Length];
        sample.Value.Data.CopyTo(copy);
        Check.That(copy.AsSpan().SequenceEqual(pixels) && sample.Value.Data[70000] == pixels[70000]);
#if NETCOREAPP
        Check.That(sample.Value.Data.AsReadOnlySpan().SequenceEqual(pixels));
#endif
    }

    private static void WithWaitStrategies()
    {
        using var publisher = new Publisher<WheelSpeed>("strategies", Options.Reliable(4).NeverWake());
        using var subscriber = new Subscriber<WheelSpeed>("strategies", new Options().Poll(TimeSpan.FromMilliseconds(1)));
        publisher.Send(new WheelSpeed { Left = 3 });
        Check.That(subscriber.Recv(out WheelSpeed got, TimeSpan.FromSeconds(60)) && got.Left == 3);
        string said = Check.Refused<HorusException>(
            () => new Subscriber<WheelSpeed>("strategies", new Options().SpinThenSleep(TimeSpan.FromMilliseconds(1))));
        Check.That(said.Contains("never wake a subscriber"));
    }

    /// <summary>What a thread allocates for messages is nothing. Mono does not count.</summary>
    private static void MakeNoObjects()
    {
#if NETCOREAPP
        using var subscriber = new Subscriber<Imu>("objects", Options.Reliable(4));
        using var publisher = new Publisher<Imu>("objects", Options.Reliable(4));
        using var bytesSubscriber = new Subscriber<byte>("objects.bytes", 64, Options.Reliable(4));
        using var bytesPublisher = new Publisher<byte>("objects.bytes", 64, Options.Reliable(4));
        var set = new WaitSet(bytesSubscriber, subscriber);
        Imu imu = default;
        var room = new byte[64];
        long allocated = 0;
        for (int round = 0; round < 1000; round++)
        {
            if (round == 500) allocated = GC.GetAllocatedBytesForCurrentThread();
            Check.That(publisher.TrySend(in imu) && set.Wait(Limit.Forever) == 1 && subscriber.TryRecv(out imu));
            Check.That(publisher.Send(in imu, Limit.Forever) && subscriber.Recv(out imu, out _, Limit.Forever) && subscriber.Missed == 0);
            using (var loan = publisher.Loan())
            {
                loan.Value.OrientationCovariance.AsSpan().Fill(round);
                loan.Publish();
            }
            using (var sample = subscriber.Borrow()) Check.That(sample.Value.OrientationCovariance[8] == round);
            Check.That(bytesPublisher.TrySend(room) && bytesSubscriber.TryRecv(room, out _));
            using (var loan = bytesPublisher.Loan(8)) loan.Publish();
            using (var sample = bytesSubscriber.Borrow()) Check.That(sample.Bytes.Length == 8);
            publisher.Send(in imu);
            foreach (Imu one in subscriber.Messages(TimeSpan.Zero)) Check.That(one.StampNs == 0);
        }
        Check.That(GC.GetAllocatedBytesForCurrentThread() == allocated);
#endif
    }
}
