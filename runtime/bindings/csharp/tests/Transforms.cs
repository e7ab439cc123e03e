// Frames: sent, looked up, refused; and a latched topic.

using System;
using Horus.Net;
using Horus.Net.Messages;
using static Horus.Net.Times;

internal static class Transforms
{
    private static int Main()
    {
        using (var mounted = new StaticBroadcaster())
        using (var frames = new Frames())
        {
            var aside = Transform.Identity;
            aside.Translation.Y = 0.5;
            mounted.Add("base", "lidar", aside);
            Check.Refused<HorusException>(() => mounted.Add("lidar", "base", aside));
            Check.That(Check.Refused<HorusException>(() => mounted.AddUrdf("/nowhere.urdf")).Contains("/nowhere.urdf"));
            using (var robot = new Broadcaster("odom", "base"))
            {
                robot.Send(1000, Transform.Planar(1, 0, Math.PI / 2));
                Transform at = frames.At("odom", "lidar", 1000);
                Check.That(Near(at.Translation, 0.5, 0, 0) && Near(at.Apply(new Vector3 { X = 1 }), 0.5, 1, 0));
                frames.Newest("odom", "lidar", out ulong time);
                Check.That(time == 1000);
                frames.Newest("base", "lidar", out time);
                Check.That(time == 0);
                Check.That(Check.Refused<HorusException>(() => new Broadcaster("map", "base")).Contains("base is in odom already"));
                Check.That(Check.Refused<HorusException>(() => robot.Send(2000, default)).Contains("its rotation has the length 0"));
                Check.That(Check.Refused<HorusException>(() => frames.At("odom", "bse", 1000)).Contains("the nearest name is base"));
                Check.That(Check.Refused<HorusException>(() => frames.At("odom", "base", 2000)).Contains("is known until"));
                Check.That(Check.Refused<HorusException>(() => frames.Wait("odom", "base", 2000, Ms(1))).Contains("is known until"));
                Check.Refused<HorusException>(() => frames.At("odom", new string('x', 100), 1000));
                Check.Refused<ArgumentNullException>(() => frames.At(null, "base", 1000));
                long before = 0;
                for (int round = 0; round < 200; round++)
                {
                    if (round == 100) before = Check.Allocated();
                    frames.At("odom", "lidar", 1000);
                }
                Check.That(Check.Allocated() == before);
            }
            Check.Refused<HorusException>(() => frames.At("odom", "base", 1000));
        }
        Options latched = new Options().Latched();
        using (var publisher = new Publisher<Vector3>("dock", latched)) Check.That(publisher.TrySend(new Vector3 { X = 7 }));
        using (var late = new Subscriber<Vector3>("dock", latched)) Check.That(late.TryRecv(out Vector3 dock) && dock.X == 7);
        return Check.Done();
    }

    private static bool Near(Vector3 point, double x, double y, double z)
    {
        return Math.Abs(point.X - x) + Math.Abs(point.Y - y) + Math.Abs(point.Z - z) < 1e-9;
    }
}
