// Services: in one process, with bytes, in nodes, and as one end of two: `serve`, `call`.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using Horus.Net;
using static Horus.Net.Times;

[Message("test/SaveMap"), StructLayout(LayoutKind.Sequential)]
public struct SaveMap
{
    public uint Slot;
}

[Message("test/MapSaved"), StructLayout(LayoutKind.Sequential)]
public struct MapSaved
{
    public uint Cells;
}

internal static class Services
{
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(60);

    private static int Main(string[] arguments)
    {
        switch (arguments.Length > 0 ? arguments[0] : "")
        {
            case "serve":
                using (var server = new Server<SaveMap, MapSaved>("map.save"))
                    for (int left = int.Parse(arguments[1]); left > 0; left--) Check.That(server.Serve(Hundred, Long));
                return 0;
            case "call":
                using (var client = new Client<SaveMap, MapSaved>("map.save"))
                {
                    Check.That(client.WaitUntilServed(Long));
                    Console.WriteLine($"{client.Call(new SaveMap { Slot = uint.Parse(arguments[1]) }, Long).Cells} cells");
                }
                return 0;
        }
        AnswersAndErrors();
        OfBytes();
        InNodes();
        return Check.Done();
    }

    private static MapSaved Hundred(SaveMap request) => new MapSaved { Cells = 100 * request.Slot };

    private static HorusStatus Why(Action call) => Enum.TryParse(Check.Refused<HorusException>(call, error => error.Status.ToString()), out HorusStatus status) ? status : default;

    private static void AnswersAndErrors()
    {
        var three = new SaveMap { Slot = 3 };
        var client = new Client<SaveMap, MapSaved>("map.save");
        Check.That(Why(() => client.Call(three, Long)) == HorusStatus.NotServed && !client.IsServed && !client.WaitUntilServed(Ms(1)));
        var server = new Server<SaveMap, MapSaved>("map.save");
        Check.That(Check.Refused<HorusException>(() => new Server<SaveMap, MapSaved>("map.save")).Contains("has a server already"));
        Check.That(client.IsServed && !server.Serve(Hundred));

        Pending call = client.Ask(three);
        Check.That(!client.TryAnswer(call, out _) && client.Unanswered == 1 && server.Serve(Hundred, Long) && client.Wait(Long));
        Check.That(client.TryAnswer(call, out MapSaved saved) && saved.Cells == 300);
        Check.That(Why(() => client.TryAnswer(call, out _)) == HorusStatus.Over);

        // Parts, and an end.
        call = client.Ask(three);
        Check.That(server.Serve((in SaveMap request, Ticket ticket) =>
        {
            for (uint part = 1; part <= request.Slot; part++) Check.That(server.Part(ticket, new MapSaved { Cells = part }));
            server.End(ticket);
        }));
        var parts = new List<uint>();
        while (client.TryPart(call, out MapSaved part) == Part.Next) parts.Add(part.Cells);
        Check.That(parts.SequenceEqual(new uint[] { 1, 2, 3 }) && Why(() => client.TryPart(call, out _)) == HorusStatus.Over);

        // One that is answered later, one that is refused, one whose handler throws, and one that is given up.
        Pending first = client.Ask(three);
        Check.That(server.TryNext(out _, out Ticket later));
        call = client.Ask(three);
        Check.That(server.TryNext(out _, out Ticket refused));
        server.Refuse(refused);
        Check.That(Why(() => client.TryAnswer(call, out _)) == HorusStatus.Unanswered);
        call = client.Ask(three);
        Check.Refused<InvalidOperationException>(() => server.Serve(request => throw new InvalidOperationException("no map")));
        Check.That(Why(() => client.TryAnswer(call, out _)) == HorusStatus.Unanswered);
        client.GiveUp(client.Ask(three));
        Check.That(server.Serve(Hundred) && client.IsServed && client.Late == 1 && !client.TryAnswer(first, out _));
        Check.That(server.Answer(later, new MapSaved { Cells = 7 }) && client.TryAnswer(first, out saved) && saved.Cells == 7);

        var calls = Enumerable.Range(0, 16).Select(_ => client.Ask(three)).ToList();
        Check.That(Why(() => client.Ask(three)) == HorusStatus.TooMany);
        calls.ForEach(client.GiveUp);
        Check.That(Why(() => client.Ask(three)) == HorusStatus.CallFull);
        while (server.Serve(Hundred)) { }
        Check.That(Why(() => client.Call(three, Ms(1))) == HorusStatus.TimedOut && server.Undelivered == 0 && server.Serve(Hundred));

        long before = 0;
        for (int round = 0; round < 200; round++)
        {
            if (round == 100) before = Check.Allocated();
            call = client.Ask(three);
            Check.That(server.TryNext(out SaveMap request, out Ticket ticket) && server.Answer(ticket, Hundred(request)) && client.TryAnswer(call, out _));
        }
        Check.That(Check.Allocated() == before);

        call = client.Ask(three);
        server.Dispose();
        Check.Refused<ObjectDisposedException>(() => server.Serve(Hundred));
        Check.That(Why(() => client.TryAnswer(call, out _)) == HorusStatus.Stopped && !client.CheckServer());
        client.Dispose();
    }

    private static void OfBytes()
    {
        using (var server = new Server<byte, byte>("echo", 16, 8))
        using (var client = new Client<byte, byte>("echo", 16, 8))
        {
            var room = new byte[16];
            var answer = new byte[8];
            Pending call = client.Ask(Encoding.UTF8.GetBytes("hello"));
            Check.That(client.TryAnswer(call, answer) == -1);
            Check.That(server.TryNext(room, out Ticket ticket) == 5 && server.Answer(ticket, new ReadOnlySpan<byte>(room, 0, 5)));
            Check.That(server.TryNext(room, out _) == -1 && client.TryAnswer(call, answer) == 5 && Encoding.UTF8.GetString(answer, 0, 5) == "hello");
            Check.That(Why(() => client.Ask(new byte[17])) == HorusStatus.Misuse && Why(() => server.TryNext(answer, out _)) == HorusStatus.Misuse);
            call = client.Ask(room);
            Check.That(server.TryNext(room, out ticket) == 16 && Why(() => server.Answer(ticket, room)) == HorusStatus.Misuse);
            Check.That(Why(() => client.TryAnswer(call, answer)) == HorusStatus.Unanswered);
            // A call without room for its answer is over: none of them counts among the 16 that may be on their way.
            for (int round = 0; round < 17; round++)
                Check.That(Why(() => client.Call(answer, new byte[4], Long)) == HorusStatus.Misuse && server.TryNext(room, out _) == 8);
            Check.Refused<ArgumentException>(() => new Client<byte, byte>("echo"));
            Check.Refused<ArgumentOutOfRangeException>(() => new Client<SaveMap, byte>("echo", 4, 8));
        }
        using (var server = new Server<SaveMap, byte>("text", 0, 8))
        using (var client = new Client<SaveMap, byte>("text", 0, 8))
        {
            var answer = new byte[8];
            Pending call = client.Ask(new SaveMap { Slot = 3 });
            Check.That(server.TryNext(out SaveMap request, out Ticket ticket));
            Check.That(server.Part(ticket, new byte[request.Slot]) && server.Answer(ticket, new byte[0]));
            Check.That(client.TryPart(call, answer, out int length) == Part.Next && length == 3);
            Check.That(client.TryPart(call, answer, out length) == Part.Next && length == 0 && client.TryPart(call, answer, out _) == Part.End);
        }
    }

    private static void InNodes()
    {
        uint last = 0;
        int answers = 0;
        Client<SaveMap, MapSaved> kept = null;
        using (var world = new World(app =>
        {
            app.Service<SaveMap, MapSaved>("map.save", request => new MapSaved { Cells = request.Slot + 1 }).MinInterArrival(Ms(1)).Deadline(Ms(1));
            Client<SaveMap, MapSaved> client = kept = app.Client<SaveMap, MapSaved>("map.save");
            Pending? call = null;
            app.Node("asks", () =>
            {
                if (call == null) call = client.Ask(new SaveMap { Slot = last });
                else if (client.TryAnswer(call.Value, out MapSaved saved))
                {
                    (last, call) = (saved.Cells, null);
                    answers++;
                }
            }).Period(Ms(10));
        }))
        {
            world.RunFor(Ms(100));
            Check.That(answers == 5 && last == 5);
            Check.That(Check.Refused<HorusException>(() => kept.Ask(default)).Contains("belongs to a node that is in no step"));
        }
        Check.Refused<ObjectDisposedException>(() => kept.Ask(default));
        Check.That(Check.Refused<HorusException>(() => new World(app => { app.Server<SaveMap, MapSaved>("a"); app.Server<SaveMap, MapSaved>("a"); })).Contains("has a server already"));
    }
}
