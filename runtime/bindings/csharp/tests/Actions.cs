// Actions: in one process, in nodes, and as one end of two: `serve`, `act`.

using System;
using System.Runtime.InteropServices;
using Horus.Net;
using static Horus.Net.Times;

[Message("test/Count"), StructLayout(LayoutKind.Sequential)]
public struct Count
{
    public ulong To;
}

[Message("test/Reached"), StructLayout(LayoutKind.Sequential)]
public struct Reached
{
    public ulong Number;
}

[Message("test/Counted"), StructLayout(LayoutKind.Sequential)]
public struct Counted
{
    public ulong Number;
}

internal static class Actions
{
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(60);

    private static int Main(string[] arguments)
    {
        switch (arguments.Length > 0 ? arguments[0] : "")
        {
            case "serve":
                using (var server = new ActionServer<Count, Reached, Counted>("count"))
                {
                    Check.That(server.TryGoal(out Goal<Count> goal, Long));
                    server.Feedback(goal.Id, new Reached { Number = 1 });
                    Check.That(server.Succeed(goal.Id, new Counted { Number = goal.Value.To }));
                }
                return 0;
            case "act":
                using (var client = new ActionClient<Count, Reached, Counted>("count"))
                {
                    Check.That(client.WaitUntilServed(Long));
                    GoalId id = client.Send(new Count { To = ulong.Parse(arguments[1]) });
                    Progress<Reached, Counted> progress;
                    do progress = Hear(client, id);
                    while (progress.News != News.Ended);
                    Check.That(progress.Status == GoalStatus.Succeeded && progress.HasResult);
                    Console.WriteLine($"counted to {progress.Result.Number}");
                }
                return 0;
        }
        GoalsAndOutcomes();
        InNodes();
        return Check.Done();
    }

    private static HorusStatus Why(Action call) => Check.Refused<HorusException>(call, error => error.Status.ToString()) is string name ? (HorusStatus)Enum.Parse(typeof(HorusStatus), name) : default;

    private static Progress<Reached, Counted> Hear(ActionClient<Count, Reached, Counted> client, GoalId id)
    {
        while (true)
        {
            Progress<Reached, Counted> progress = client.Look(id);
            if (progress.News != News.Nothing) return progress;
            if (!client.Wait(Ms(10))) client.CheckServer();
        }
    }

    private static void GoalsAndOutcomes()
    {
        var client = new ActionClient<Count, Reached, Counted>("count");
        Check.That(!client.WaitUntilServed(Ms(1)));
        var server = new ActionServer<Count, Reached, Counted>("count");
        Check.That(client.WaitUntilServed(Long) && !server.TryGoal(out _));
        Check.That(Check.Refused<HorusException>(() => new ActionServer<Count, Reached, Counted>("count")).Contains("has a server already"));

        GoalId id = client.Send(new Count { To = 3 });
        Check.That(server.TryGoal(out Goal<Count> goal, Long) && goal.IsNew && goal.Value.To == 3 && !goal.IsCanceling && goal.Id.Equals(id));
        GoalId other = client.Send(new Count { To = 4 });
        Check.That(server.TryGoal(out goal) && !goal.IsNew && Why(() => Hear(client, other)) == HorusStatus.Rejected);
        for (ulong number = 1; number < 3; number++) server.Feedback(id, new Reached { Number = number });
        Check.That(Why(() => server.Canceled(id)) == HorusStatus.Misuse && server.Succeed(id, new Counted { Number = 3 }));
        Check.That(Why(() => server.Succeed(id, default)) == HorusStatus.Over && Hear(client, id).News == News.Accepted);
        for (ulong number = 1; number < 3; number++)
        {
            Progress<Reached, Counted> told = Hear(client, id);
            Check.That(told.News == News.Feedback && told.Feedback.Number == number);
        }
        Progress<Reached, Counted> progress = Hear(client, id);
        Check.That(progress.News == News.Ended && progress.Status == GoalStatus.Succeeded && progress.HasResult && progress.Result.Number == 3);
        Check.That(Why(() => client.Look(id)) == HorusStatus.Over);

        id = client.Send(new Count { To = 3 });
        Check.That(server.TryGoal(out _, Long));
        client.Cancel(id);
        Check.That(server.TryGoal(out goal) && goal.IsCanceling && goal.Cause == GoalCause.Canceled && server.Canceled(id, new Counted { Number = 1 }));
        Check.That(Hear(client, id).News == News.Accepted);
        progress = Hear(client, id);
        Check.That(progress.Status == GoalStatus.Canceled && progress.Result.Number == 1);
        id = client.Send(new Count { To = 3 });
        Check.That(server.TryGoal(out _, Long) && server.Abort(id, "a wall") && Hear(client, id).News == News.Accepted);
        progress = Hear(client, id);
        Check.That(progress.Status == GoalStatus.Aborted && !progress.HasResult && progress.Reason == "a wall");

        id = client.Send(new Count { To = 3 });
        server.Dispose();
        Check.Refused<ObjectDisposedException>(() => server.TryGoal(out _));
        Check.That(Why(() => { while (Hear(client, id).News != News.Ended) { } }) == HorusStatus.Stopped);
        client.Dispose();
    }

    private static void InNodes()
    {
        ulong outcome = 0, counted = 0;
        int feedbacks = 0;
        GoalId? sent = null;
        ActionClient<Count, Reached, Counted> kept = null;
        using (var world = new World(app =>
        {
            var server = app.Action<Count, Reached, Counted>("count", Preemption.Replace);
            app.Node("counts", () =>
            {
                if (!server.TryGoal(out Goal<Count> goal)) return;
                counted = goal.IsNew ? 1 : counted + 1;
                if (counted == goal.Value.To) server.Succeed(goal.Id, new Counted { Number = counted });
                else server.Feedback(goal.Id, new Reached { Number = counted });
            }).Period(Ms(10));
            var client = kept = app.ActionClient<Count, Reached, Counted>("count");
            app.Node("wants", () =>
            {
                if (sent == null)
                {
                    sent = client.Send(new Count { To = 5 });
                    return;
                }
                while (outcome == 0)
                {
                    Progress<Reached, Counted> progress = client.Look(sent.Value);
                    if (progress.News == News.Nothing) return;
                    if (progress.News == News.Feedback) feedbacks++;
                    if (progress.News == News.Ended) outcome = progress.Result.Number;
                }
            }).Period(Ms(10));
        }))
        {
            world.RunFor(Ms(200));
            Check.That(outcome == 5 && feedbacks == 4);
        }
        Check.Refused<ObjectDisposedException>(() => kept.CheckServer());
    }
}
