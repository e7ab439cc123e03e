// A station of the ring of five languages: it receives a token, looks at every field, and hands it on.
//
//   Ring pass IN OUT COUNT    Ring hold TOPIC    Ring changed TOPIC

using System;
using Horus.Net;

[Message("example/Token")]
public struct Token
{
    public ulong Number;
    public double Value;
    public Array3<short> Small;
    public byte Hops;
    public Array1<byte> Spare;
}

public static class Changed
{
    [Message("example/Token")]
    public struct Token
    {
        public ulong Number;
        public double Worth;
        public Array3<short> Small;
        public byte Hops;
        public Array1<byte> Spare;
    }
}

internal static class Ring
{
    private const int Capacity = 64, Refused = 3;

    private static int Main(string[] arguments)
    {
        switch (arguments.Length > 0 ? arguments[0] : "")
        {
            case "pass" when arguments.Length == 4: return Pass(arguments[1], arguments[2], ulong.Parse(arguments[3]));
            case "hold" when arguments.Length == 2: return Hold(arguments[1]);
            case "changed" when arguments.Length == 2: return Join(arguments[1]);
        }
        Console.Error.WriteLine("Ring pass IN OUT COUNT | hold TOPIC | changed TOPIC");
        return 2;
    }

    private static int Pass(string from, string to, ulong count)
    {
        using var input = new Subscriber<Token>(from, Options.Reliable(Capacity));
        using var output = new Publisher<Token>(to, Options.Reliable(Capacity));
        Ready();
        for (ulong number = 0; number < count; number++)
        {
            Token token = input.Recv();
            string wrong = Wrong(token, number);
            if (wrong != null)
            {
                Console.Error.WriteLine($"message {number}: the field {wrong} is wrong");
                return 1;
            }
            token.Hops++;
            output.Send(token);
        }
        return 0;
    }

    /// <summary>The name of a field that is not what the first station sent.</summary>
    private static string Wrong(in Token token, ulong number)
    {
        short small = (short)(number % 1000);
        if (token.Number != number) return "number";
        if (token.Value != number * 0.5) return "value";
        if (token.Small[0] != small || token.Small[1] != -small || token.Small[2] != 7) return "small";
        return token.Spare[0] == 0x5a ? null : "spare";
    }

    private static int Hold(string topic)
    {
        using var output = new Publisher<Token>(topic, Options.Reliable(Capacity));
        Ready();
        Console.In.ReadToEnd();
        return 0;
    }

    private static int Join(string topic)
    {
        try
        {
            using var input = new Subscriber<Changed.Token>(topic, Options.Reliable(Capacity));
            return 0;
        }
        catch (HorusException refused)
        {
            Console.WriteLine(refused.Message);
            return Refused;
        }
    }

    private static void Ready()
    {
        Console.WriteLine("ready");
        Console.Out.Flush();
    }
}
