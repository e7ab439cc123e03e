// The vectors of docs/layout-hash.md: texts, generated structs and structs of a user's own come to the same hashes, and every field stands
// where its layout has it.   Vectors FILE

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using Horus.Net;
using Horus.Net.Messages;

[Message("test/EveryNumber")]
public struct EveryNumber
{
    public double A;
    public ulong B;
    public long C;
    public float D;
    public uint E;
    public int F;
    public ushort G;
    public short H;
    public byte I;
    public sbyte J;
    public Array6<byte> K;
}

[Message("test/Path")]
public struct Route
{
    public ulong Count { get; set; } // a property is a field, too
    public Array2<Array3<float>> Matrix;
    public Array2<Leg> Steps;
}

[Message("test/Step")]
public struct Leg
{
    public Place From, To;
}

[Message("test/Place")]
public struct Place
{
    public double X, Y;
}

[Message("test/Note")]
public unsafe struct Note
{
    public fixed byte Message[8]; // for those who write `unsafe` themselves
    public ulong Number;
}

public static class Vectors
{
    private static int Main(string[] arguments)
    {
        var hashes = new Dictionary<string, ulong>();
        foreach (string block in File.ReadAllText(arguments[0]).Split(new[] { "\n\n" }, StringSplitOptions.RemoveEmptyEntries))
        {
            if (block.StartsWith("#")) continue;
            string[] head = block.Substring(0, block.IndexOf('\n')).Split(' ');
            string text = block.Substring(block.IndexOf('\n') + 1).TrimEnd();
            ulong hash = Convert.ToUInt64(head[1], 16);
            Check.That(LayoutText.HashOf(text, out int bytes) == hash && bytes == int.Parse(head[3]));
            hashes[text.Substring("message ".Length).Split('\n')[0]] = hash;
        }
        var generated = typeof(Publisher<>).Assembly.GetTypes().Where(type => type.GetCustomAttribute<MessageAttribute>() != null).ToList();
        int compared = generated.Count(type => Compare(type, hashes));
        Check.That(compared > 15 && compared == hashes.Keys.Count(name => name.StartsWith("horus/")));
        foreach (Type type in new[] { typeof(EveryNumber), typeof(Route), typeof(Note) }) Check.That(Compare(type, hashes));
        Check.That(Layout<Leg>.Text == "message test/Step\n from test/Place\n to test/Place\nmessage test/Place\n x f64\n y f64");
        ArraysHoldWhatIsPut();
        return Check.Done();
    }

    /// <summary>Whether there is a vector for this struct; it has that hash then, and its fields their places.</summary>
    private static bool Compare(Type type, Dictionary<string, ulong> hashes)
    {
        if (!hashes.TryGetValue(type.GetCustomAttribute<MessageAttribute>().Name, out ulong hash)) return false;
#if !NETCOREAPP
        if (type.Name == "ImageHd" || type.Name == "ImageFullHd") return TooLargeForMono(type);
#endif
        Type layout = typeof(Layout<>).MakeGenericType(type);
        Check.That((ulong)layout.GetProperty("Hash").GetValue(null) == hash);
        Check.That((int)layout.GetProperty("Bytes").GetValue(null) == Size(type));
        if (type.GetFields(BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public).Any(field => field.FieldType.IsGenericType)) return true;
        int end = 0;
        foreach (FieldInfo field in type.GetFields(BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public).OrderBy(one => one.MetadataToken))
        {
            Check.That(Marshal.OffsetOf(type, field.Name).ToInt32() == end); // each byte belongs to a field, so each begins where the last one ends
            end += Size(field.FieldType);
        }
        Check.That(end == Size(type));
        return true;
    }

#if !NETCOREAPP
    /// <summary>Mono has no structs of more than 1 MiB, and says so.</summary>
    private static bool TooLargeForMono(Type type)
    {
        MethodInfo hash = typeof(Layout<>).MakeGenericType(type).GetProperty("Hash").GetGetMethod();
        string said = Check.Refused<TargetInvocationException>(() => hash.Invoke(null, null));
        return said != null;
    }
#endif

    private static int Size(Type type)
    {
        return (int)typeof(Vectors).GetMethod(nameof(SizeOf), BindingFlags.Static | BindingFlags.NonPublic).MakeGenericMethod(type).Invoke(null, null);
    }

    private static unsafe int SizeOf<T>() where T : unmanaged => sizeof(T);

    private static void ArraysHoldWhatIsPut()
    {
        Route route = default;
        for (int row = 0; row < 2; row++)
        {
            Array3<float> values = default;
            for (int column = 0; column < 3; column++) values[column] = row * 10 + column;
            route.Matrix[row] = values;
        }
        route.Steps[1] = new Leg { To = new Place { Y = 5 } };
        Route copy = route;
        Check.That(copy.Matrix[1][2] == 12 && copy.Matrix[0][1] == 1 && copy.Steps[1].To.Y == 5 && copy.Steps[0].To.Y == 0);
        Check.That(Check.Refused<IndexOutOfRangeException>(() => copy.Matrix[2].ToString()) == "there is no element 2: the array has 2");
        Check.Refused<IndexOutOfRangeException>(() => copy.Matrix[-1] = default);
        Array16<byte> bytes = default;
        for (int i = 0; i < 16; i++) bytes[i] = (byte)i;
        for (int i = 0; i < 16; i++) Check.That(bytes[i] == i);
        Odometry odometry = default;
        odometry.FrameText.Text = "odom";
        odometry.FrameText.Text = "ba";
        odometry.PoseCovariance.CopyFrom(new double[] { 1, 2 });
        Check.That(odometry.FrameText.Text == "ba" && odometry.FrameText[2] == 0 && odometry.PoseCovariance[1] == 2);
        Check.Refused<ArgumentException>(() => odometry.FrameText.Text = new string('x', 25));
        odometry.FrameText.Text = new string('x', 24);
        Check.That(odometry.FrameText.Text.Length == 24 && odometry.ChildFrameText.Text == "");
    }
}
