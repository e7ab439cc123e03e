// The ways on which messages go, each with a sender and a receiver. A message is numbers of 64 bits that are all its own number: the sender
// writes all of it, and the receiver reads all of it and looks that it is the next one. Of an untouched one, both do so with its first number only.

using System;
using System.IO;
using System.IO.Pipes;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Channels;
using Horus.Net;

internal interface ISender : IDisposable
{
    void Send(ulong number);
}

internal interface IReceiver : IDisposable
{
    /// <summary>Waits for the next message, and checks that it is this one.</summary>
    void Receive(ulong number);
}

internal static class Payload
{
    internal static void Write(Span<byte> message, ulong number) => MemoryMarshal.Cast<byte, ulong>(message).Fill(number);

    internal static void Check(ReadOnlySpan<byte> message, ulong number)
    {
        ReadOnlySpan<ulong> words = MemoryMarshal.Cast<byte, ulong>(message);
        ReadOnlySpan<Vector<ulong>> wide = MemoryMarshal.Cast<ulong, Vector<ulong>>(words);
        var wanted = new Vector<ulong>(number);
        Vector<ulong> differs = Vector<ulong>.Zero;
        foreach (Vector<ulong> part in wide) differs |= part ^ wanted;
        bool isWrong = differs != Vector<ulong>.Zero;
        for (int word = wide.Length * Vector<ulong>.Count; word < words.Length; word++) isWrong |= words[word] != number;
        if (isWrong) throw new InvalidDataException($"message {number} is not what was sent");
    }
}

internal static class Transports
{
    internal const string Untouched = "untouched";
    // As many messages as stay in caches; of those that are not looked into, as many as in the benchmark of iceoryx2.
    private const int Bytes = 4 << 20, UntouchedBytes = 64 << 20, Fewest = 8, Most = 1024;

    /// <summary>Messages that a way holds; the same in Rust.</summary>
    internal static int Capacity(string way, int bytes) => Math.Max(Fewest, Math.Min(Most, (way == Untouched ? UntouchedBytes : Bytes) / bytes));

    internal static Options Options(string way, int bytes) => Horus.Net.Options.Reliable(Capacity(way, bytes));

    internal static ISender Sender(string way, string name, int bytes)
    {
        switch (way)
        {
            case "copy": return new CopySender(name, bytes, way);
            case "place": return new PlaceSender(name, bytes, bytes, way);
            case Untouched: return new PlaceSender(name, bytes, sizeof(ulong), way);
            default: return new PipeSender(name, bytes);
        }
    }

    internal static IReceiver Receiver(string way, string name, int bytes)
    {
        switch (way)
        {
            case "copy": return new CopyReceiver(name, bytes, way);
            case "place": return new PlaceReceiver(name, bytes, bytes, way);
            case Untouched: return new PlaceReceiver(name, bytes, sizeof(ulong), way);
            case "channels": return new ChannelReceiver(bytes, way);
            default: return new PipeReceiver(name, bytes);
        }
    }
}

internal sealed class CopySender : ISender
{
    private readonly Publisher<byte> publisher;
    private readonly byte[] message;

    internal CopySender(string name, int bytes, string way)
    {
        publisher = new Publisher<byte>(name, bytes, Transports.Options(way, bytes));
        message = new byte[bytes];
    }

    public void Send(ulong number)
    {
        Payload.Write(message, number);
        if (!publisher.TrySend(message)) publisher.Send(message);
    }

    public void Dispose() => publisher.Dispose();
}

internal sealed class CopyReceiver : IReceiver
{
    private readonly Subscriber<byte> subscriber;
    private readonly byte[] message;

    internal CopyReceiver(string name, int bytes, string way)
    {
        subscriber = new Subscriber<byte>(name, bytes, Transports.Options(way, bytes));
        message = new byte[bytes];
    }

    public void Receive(ulong number)
    {
        if (!subscriber.TryRecv(message, out int length)) subscriber.Recv(message, out length, Limit.Forever);
        Payload.Check(new ReadOnlySpan<byte>(message, 0, length), number);
    }

    public void Dispose() => subscriber.Dispose();
}

internal sealed class PlaceSender : ISender
{
    private readonly Publisher<byte> publisher;
    private readonly int bytes, touched;

    internal PlaceSender(string name, int bytes, int touched, string way)
    {
        publisher = new Publisher<byte>(name, bytes, Transports.Options(way, bytes));
        this.bytes = bytes;
        this.touched = touched;
    }

    public void Send(ulong number)
    {
        var patience = new SpinWait();
        while (true)
        {
            using var loan = publisher.Loan(bytes);
            if (loan.IsEmpty)
            {
                patience.SpinOnce(-1); // there is no waiting for a place; it never sleeps
                continue;
            }
            Payload.Write(loan.Bytes.Slice(0, touched), number);
            loan.Publish();
            return;
        }
    }

    public void Dispose() => publisher.Dispose();
}

internal sealed class PlaceReceiver : IReceiver
{
    private readonly Subscriber<byte> subscriber;
    private readonly WaitSet any;
    private readonly int touched;

    internal PlaceReceiver(string name, int bytes, int touched, string way)
    {
        this.touched = touched;
        subscriber = new Subscriber<byte>(name, bytes, Transports.Options(way, bytes));
        any = new WaitSet(subscriber);
    }

    public void Receive(ulong number)
    {
        while (true)
        {
            using (var sample = subscriber.Borrow())
                if (!sample.IsEmpty)
                {
                    Payload.Check(sample.Bytes.Slice(0, touched), number);
                    return;
                }
            any.Wait(Limit.Forever);
        }
    }

    public void Dispose() => subscriber.Dispose();
}

/// <summary>A named pipe of .NET, which on Linux is a socket in a file.</summary>
internal sealed class PipeSender : ISender
{
    private readonly NamedPipeClientStream pipe;
    private readonly byte[] message;

    internal PipeSender(string name, int bytes)
    {
        pipe = new NamedPipeClientStream(".", name, PipeDirection.Out);
        pipe.Connect();
        message = new byte[bytes];
    }

    public void Send(ulong number)
    {
        Payload.Write(message, number);
        pipe.Write(message, 0, message.Length);
    }

    public void Dispose() => pipe.Dispose();
}

internal sealed class PipeReceiver : IReceiver
{
    // So that small messages are not read one by one, which no reader of many would do.
    private const int Buffer = 65536;

    private readonly NamedPipeServerStream pipe;
    private readonly BufferedStream buffered;
    private readonly byte[] message;

    internal PipeReceiver(string name, int bytes)
    {
        pipe = new NamedPipeServerStream(name, PipeDirection.In);
        buffered = new BufferedStream(pipe, Buffer);
        message = new byte[bytes];
    }

    public void Receive(ulong number)
    {
        if (!pipe.IsConnected) pipe.WaitForConnection();
        int read = 0;
        while (read < message.Length)
        {
            int more = buffered.Read(message, read, message.Length - read);
            if (more == 0) throw new EndOfStreamException();
            read += more;
        }
        Payload.Check(message, number);
    }

    public void Dispose() => pipe.Dispose();
}

/// <summary>References to arrays, from one thread to another of the same process: no way between programs.</summary>
internal sealed class ChannelReceiver : IReceiver
{
    private readonly Channel<byte[]> full, empty;
    private volatile bool isOver;

    internal ChannelReceiver(int bytes, string way)
    {
        int capacity = Transports.Capacity(way, bytes);
        full = Channel.CreateBounded<byte[]>(Options(capacity));
        empty = Channel.CreateBounded<byte[]>(Options(capacity));
        for (int i = 0; i < capacity; i++) empty.Writer.TryWrite(new byte[bytes]);
        new Thread(Send) { IsBackground = true }.Start();
    }

    private static BoundedChannelOptions Options(int capacity)
    {
        return new BoundedChannelOptions(capacity) { SingleReader = true, SingleWriter = true };
    }

    private void Send()
    {
        for (ulong number = 0; !isOver; number++)
        {
            byte[] message = Next(empty);
            Payload.Write(message, number);
            full.Writer.TryWrite(message); // as many as there are arrays fit
        }
    }

    public void Receive(ulong number)
    {
        byte[] message = Next(full);
        Payload.Check(message, number);
        empty.Writer.TryWrite(message);
    }

    private static byte[] Next(Channel<byte[]> channel)
    {
        byte[] message;
        while (!channel.Reader.TryRead(out message)) channel.Reader.WaitToReadAsync().AsTask().Wait();
        return message;
    }

    public void Dispose() => isOver = true;
}
