// A program of nodes: it is declared, and then it runs.

using System;
using System.Runtime.CompilerServices;
using Horus.Net.Native;

namespace Horus.Net
{
    /// <summary>
    /// A program of nodes. Its settings are those of node.toml, and it understands the options of every program of nodes (<c>--describe</c>,
    /// <c>--releases N</c>, <c>--strict</c>). What goes wrong while it is declared, <see cref="Run()"/> says.
    /// </summary>
    public sealed unsafe class App : IDisposable
    {
        private readonly bool isLent;
        private readonly Life life;
        private IntPtr app;

        /// <summary>A program without nodes.</summary>
        public App(string name)
        {
            Library.Load();
            app = Made(name);
            life = new Life();
        }

        [MethodImpl(Calls.Cold)]
        private static IntPtr Made(string name)
        {
            fixed (byte* text = Text.ToNative(name, nameof(name))) return Status.Made(NodeFunctions.horus_app_new(text));
        }

        /// <summary>One that a world lends for its nodes to be declared.</summary>
        internal App(IntPtr lent, Life life)
        {
            app = lent;
            isLent = true;
            this.life = life;
        }

        /// <summary>Declares nodes by a function, which a <see cref="World"/> can be given too, and runs them; gives what Main returns.</summary>
        public static int Run(string name, Action<App> declare)
        {
            if (declare == null) throw new ArgumentNullException(nameof(declare));
            using (var app = new App(name))
            {
                app.Declare(declare);
                return app.Run();
            }
        }

        /// <summary>An input of the next node.</summary>
        public Input<T> Input<T>(string topic, Options options = null) where T : unmanaged
        {
            Opening.ThrowIfBytes<T>();
            IntPtr open = Open();
            return new Input<T>(TryLayout<T>(out IntPtr layout) ? Input(open, topic, layout, options) : IntPtr.Zero, life);
        }

        /// <summary>An input of messages of up to <paramref name="maximum"/> bytes: an <c>Input&lt;byte&gt;</c> alone.</summary>
        public Input<T> Input<T>(string topic, int maximum, Options options = null) where T : unmanaged
        {
            Opening.ThrowUnlessBytes<T>(maximum);
            IntPtr open = Open(), input = IntPtr.Zero;
            Opening.WithLayout(maximum, layout => input = Input(open, topic, layout, options));
            return new Input<T>(input, life);
        }

        private static IntPtr Input(IntPtr open, string topic, IntPtr layout, Options options)
        {
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
            {
                byte* at = name;
                return Options.Lend(options, given => NodeFunctions.horus_app_input(open, at, layout, given));
            }
        }

        /// <summary>An output of the next node, of a latest topic that holds 16 messages unless the options say otherwise.</summary>
        public Output<T> Output<T>(string topic, Options options = null) where T : unmanaged
        {
            Opening.ThrowIfBytes<T>();
            IntPtr open = Open();
            return new Output<T>(TryLayout<T>(out IntPtr layout) ? Output(open, topic, layout, options) : IntPtr.Zero, life);
        }

        /// <summary>An output of messages of up to <paramref name="maximum"/> bytes: an <c>Output&lt;byte&gt;</c> alone.</summary>
        public Output<T> Output<T>(string topic, int maximum, Options options = null) where T : unmanaged
        {
            Opening.ThrowUnlessBytes<T>(maximum);
            IntPtr open = Open(), output = IntPtr.Zero;
            Opening.WithLayout(maximum, layout => output = Output(open, topic, layout, options));
            return new Output<T>(output, life);
        }

        private static IntPtr Output(IntPtr open, string topic, IntPtr layout, Options options)
        {
            fixed (byte* name = Text.ToNative(topic, nameof(topic)))
            {
                byte* at = name;
                return Options.Lend(options, given => NodeFunctions.horus_app_output(open, at, layout, given));
            }
        }

        /// <summary>A parameter of the next node, with the value that it has where nothing else is said.</summary>
        public Param<double> Param(string name, double value, ParamOptions options = null) => Param<double>(name, value, options);

        /// <summary>As above, of a whole number.</summary>
        public Param<long> Param(string name, long value, ParamOptions options = null) => Param<long>(name, value, options);

        /// <summary>As above, of a truth value.</summary>
        public Param<bool> Param(string name, bool value, ParamOptions options = null) => Param<bool>(name, value, options);

        /// <summary>As above, of a text of at most 64 bytes.</summary>
        public Param<string> Param(string name, string value, ParamOptions options = null) => Param<string>(name, value, options);

        [MethodImpl(Calls.Cold)]
        private Param<T> Param<T>(string name, ParamValue value, ParamOptions options)
        {
            ParamOptions said = options ?? new ParamOptions();
            NativeValue native = value.ToNative(), least = (said.Least ?? default).ToNative(), greatest = (said.Greatest ?? default).ToNative();
            fixed (byte* text = Text.ToNative(name, nameof(name)))
            fixed (byte* unit = Text.ToNative(said.Unit ?? "", nameof(options)))
            fixed (byte* about = Text.ToNative(said.About ?? "", nameof(options)))
            {
                var wishes = new NativeWishes
                {
                    Unit = unit,
                    About = about,
                    Least = said.Least.HasValue ? &least : null,
                    Greatest = said.Greatest.HasValue ? &greatest : null,
                    ReadOnly = said.ReadOnly ? 1u : 0u,
                };
                return new Param<T>(ParamFunctions.horus_app_param(Open(), text, &native, &wishes));
            }
        }

        /// <summary>Has the members of a group alone set the parameters, if node.toml names no other one; who may use its topics may read them.</summary>
        public void ParamGroup(string group)
        {
            fixed (byte* text = Text.ToNative(group, nameof(group))) ParamFunctions.horus_app_param_group(Open(), text);
        }

        /// <summary>Adds a node, which has the inputs and outputs that were opened since the last one. A thread of its own calls the step.</summary>
        public Node Node(string name, Step step)
        {
            IntPtr open = Open();
            var steps = new Steps(step);
            fixed (byte* text = Text.ToNative(name, nameof(name)))
                return new Node(NodeFunctions.horus_app_node(open, text, Steps.RunFunction, life.Keep(steps)), steps, this);
        }

        /// <summary>As above, for a step that needs nothing of its cycle.</summary>
        public Node Node(string name, Action step)
        {
            if (step == null) throw new ArgumentNullException(nameof(step));
            return Node(name, (in Cycle cycle) => step());
        }

        /// <summary>
        /// Adds a node that serves <paramref name="service"/>, and has its name: the handler answers each request, in a cycle that the request releases.
        /// Inputs and outputs that were opened before are this node's, too.
        /// </summary>
        public Node Service<Q, A>(string service, Func<Q, A> handler, Options options = null) where Q : unmanaged where A : unmanaged
        {
            if (handler == null) throw new ArgumentNullException(nameof(handler));
            const int most = 64 * 16; // all requests that wait, and no more: a client that asks without end must not hold the step
            Server<Q, A> server = Server<Q, A>(service, options);
            Server<Q, A>.Handler answer = (in Q request, Ticket ticket) => server.Answer(ticket, handler(request));
            return Node(service, () => { for (int left = most; left > 0 && server.Serve(answer); left--) { } }).On(service);
        }

        /// <summary>The answering end of a service, for the next node, which serves it among its other work: <c>On(service)</c> releases it by requests.</summary>
        public Server<Q, A> Server<Q, A>(string service, Options options = null) where Q : unmanaged where A : unmanaged
        {
            IntPtr open = Open();
            return new Server<Q, A>(Opened(() => ServiceOpening.OfStructs<Q, A>((name, request, answer, given) =>
                ServiceFunctions.horus_app_server(open, name, request, answer, given), service, options)), life);
        }

        /// <summary>As above, with the most bytes of a request and of an answer, where one of them is <c>byte</c>; 0 for a struct.</summary>
        public Server<Q, A> Server<Q, A>(string service, int request, int answer, Options options = null) where Q : unmanaged where A : unmanaged
        {
            IntPtr open = Open();
            return new Server<Q, A>(Opened(() => ServiceOpening.Opened<Q, A>((name, ofRequests, ofAnswers, given) =>
                ServiceFunctions.horus_app_server(open, name, ofRequests, ofAnswers, given), service, request, answer, options)), life);
        }

        /// <summary>The asking end of a service, for the next node: it asks in one step, and looks for the answer in a later one.</summary>
        public Client<Q, A> Client<Q, A>(string service, Options options = null) where Q : unmanaged where A : unmanaged
        {
            IntPtr open = Open();
            return new Client<Q, A>(Opened(() => ServiceOpening.OfStructs<Q, A>((name, request, answer, given) =>
                ServiceFunctions.horus_app_client(open, name, request, answer, given), service, options)), service, life);
        }

        /// <summary>As above, with the most bytes of a request and of an answer, where one of them is <c>byte</c>; 0 for a struct.</summary>
        public Client<Q, A> Client<Q, A>(string service, int request, int answer, Options options = null) where Q : unmanaged where A : unmanaged
        {
            IntPtr open = Open();
            return new Client<Q, A>(Opened(() => ServiceOpening.Opened<Q, A>((name, ofRequests, ofAnswers, given) =>
                ServiceFunctions.horus_app_client(open, name, ofRequests, ofAnswers, given), service, request, answer, options)), service, life);
        }

        /// <summary>The end of an action that works on goals, for the next node: <c>On("ACTION.goal")</c> releases a node by goals.</summary>
        public ActionServer<G, F, R> Action<G, F, R>(string action, Preemption preemption = Preemption.Refuse, Options options = null)
            where G : unmanaged where F : unmanaged where R : unmanaged
        {
            IntPtr open = Open();
            return new ActionServer<G, F, R>(Opened(() => ActionOpening.Opened<G, F, R>((name, goal, feedback, result, given) =>
                ActionFunctions.horus_app_action_server(open, name, goal, feedback, result, (uint)preemption, given), action, options)), life);
        }

        /// <summary>The end of an action that sends goals, for the next node: it sends in one step, and looks in later ones.</summary>
        public ActionClient<G, F, R> ActionClient<G, F, R>(string action, Options options = null)
            where G : unmanaged where F : unmanaged where R : unmanaged
        {
            IntPtr open = Open();
            return new ActionClient<G, F, R>(Opened(() => ActionOpening.Opened<G, F, R>((name, goal, feedback, result, given) =>
                ActionFunctions.horus_app_action_client(open, name, goal, feedback, result, given), action, options)), life);
        }

        /// <summary>What a layout refuses, the program does not run with.</summary>
        private IntPtr Opened(Func<IntPtr> open)
        {
            try
            {
                return open();
            }
            catch (HorusException error)
            {
                Refuse(error.Message);
                return IntPtr.Zero;
            }
        }

        /// <summary>Names nodes that hand data on to each other, and the longest time from the first one's release to the last one's completion.</summary>
        public void Chain(TimeSpan endToEnd, params string[] nodes)
        {
            if (nodes == null) throw new ArgumentNullException(nameof(nodes));
            IntPtr open = Open();
            // One text behind the other, and where each begins.
            byte*[] places = new byte*[nodes.Length];
            byte[] texts = Text.ToNative(string.Concat(Array.ConvertAll(nodes, node => node + "\n")), nameof(nodes));
            fixed (byte* all = texts)
            fixed (byte** pointers = places)
            {
                int at = 0;
                for (int node = 0; node < nodes.Length; node++)
                {
                    pointers[node] = all + at;
                    while (all[at] != (byte)'\n') at++;
                    all[at++] = 0;
                }
                NodeFunctions.horus_app_chain(open, pointers, (ulong)nodes.Length, Limit.Span(endToEnd));
            }
        }

        /// <summary>Ends the program after so many releases of each node.</summary>
        [MethodImpl(Calls.Cold)]
        public void Releases(long count) => NodeFunctions.horus_app_releases(Open(), (ulong)Math.Max(0, count));

        /// <summary>Does not start unless the system grants everything that a node asks for.</summary>
        [MethodImpl(Calls.Cold)]
        public void Strict() => NodeFunctions.horus_app_strict(Open());

        /// <summary>
        /// Has a second SIGTERM or SIGINT within this time of the first one change nothing; 1 s if neither this nor node.toml says otherwise. A later one,
        /// or a third one, ends the program at once.
        /// </summary>
        [MethodImpl(Calls.Cold)]
        public void Grace(TimeSpan span) => NodeFunctions.horus_app_grace_ns(Open(), Limit.Span(span));

        /// <summary>
        /// Runs the nodes until SIGTERM or SIGINT, until they have used up their releases, or until one of them ends the program. Gives what Main
        /// returns: 0, or 1 when it has printed why.
        /// </summary>
        public int Run()
        {
            IntPtr run = Take();
            Signals.LeaveToTheLibrary();
            int code = NodeFunctions.horus_app_run(run);
            Signals.NodesHaveEnded();
            life.End();
            return code;
        }

        /// <summary>Runs the nodes in this thread, as fast as it can: for meters of the loop's own cost.</summary>
        public void RunInPlace(long releases)
        {
            int status = NodeFunctions.horus_app_run_in_place(Take(), (ulong)Math.Max(0, releases));
            life.End();
            Status.IsDone(status);
        }

        /// <summary>Ends a program that is not to be run. After <see cref="Run()"/> there is nothing to end.</summary>
        public void Dispose()
        {
            if (app == IntPtr.Zero || isLent) return;
            int status = NodeFunctions.horus_app_close(Take());
            life.End();
            Status.IsDone(status);
        }

        /// <summary>Calls a function that declares; what it throws, the program does not run with.</summary>
        internal void Declare(Action<App> declare)
        {
            try
            {
                declare(this);
            }
            catch (Exception error)
            {
                Refuse(Life.Sentence(error));
            }
        }

        /// <summary>The function that declares has returned.</summary>
        internal void GiveBack() => app = IntPtr.Zero;

        internal void ThrowIfNotDeclared() => Open();

        private IntPtr Open()
        {
            if (app == IntPtr.Zero) throw new ObjectDisposedException(nameof(App), "the program runs, has run, or was disposed: declare everything before");
            return app;
        }

        private IntPtr Take()
        {
            if (isLent) throw new InvalidOperationException("this app is lent to the function that declares its nodes: return from it");
            IntPtr taken = Open();
            app = IntPtr.Zero;
            return taken;
        }

        private bool TryLayout<T>(out IntPtr layout) where T : unmanaged
        {
            try
            {
                layout = Layout<T>.Handle;
                return true;
            }
            catch (HorusException error)
            {
                Refuse(error.Message);
                layout = IntPtr.Zero;
                return false;
            }
        }

        private void Refuse(string why)
        {
            fixed (byte* text = Text.Reason(why)) NodeFunctions.horus_app_refuse(app, text);
        }
    }
}
