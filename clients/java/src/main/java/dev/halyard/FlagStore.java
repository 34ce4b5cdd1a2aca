package dev.halyard;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/** The flags at hand, where they stand, and what waits for them. All but {@link #view} and {@link #ready()} belongs to the loop. */
final class FlagStore {
  /** Hears of what happens, on the loop. It must neither throw nor wait. */
  interface Listener {
    void onStatus(Status status);

    void onChange(Set<String> keys);

    void onError(HalyardException error);
  }

  /** The newest flags. */
  volatile View view;

  /** Completed at the very end. */
  final CompletableFuture<Void> closed = new CompletableFuture<>();

  private final HalyardOptions options;
  private final Loop loop;
  private final Listener listener;
  private final RevisionGate gate;
  private final Set<String> rejected = new HashSet<>();
  private final List<CompletableFuture<Ready>> waiting = new ArrayList<>();

  /** Where the load from the server stands, without flags of the last run. */
  private Status status = Status.CONNECTING;

  private HalyardException error;
  private String etag;
  private Future<?> lapse;

  FlagStore(HalyardOptions options, Loop loop, Map<String, FlagState> bootstrap, Listener listener) {
    this.options = options;
    this.loop = loop;
    this.listener = listener;
    gate = new RevisionGate(loop::now);
    error = options.problem;
    if (error != null) status = Status.FAILED;

    boolean isLoaded = bootstrap != null;
    view = new View(isLoaded ? Status.STALE : status, isLoaded ? bootstrap : Map.of(), isLoaded, false, RevisionGate.NONE);
  }

  boolean isClosed() {
    return status == Status.CLOSED;
  }

  /** The tag of the map at hand, if an answer of REST brought it. */
  String etag() {
    return etag;
  }

  /** The place of a request in the order of requests and frames. */
  long tick() {
    return gate.tick();
  }

  /** What became of the first load, in bounded time. Completed on the loop. */
  CompletableFuture<Ready> ready() {
    return complete(new CompletableFuture<>());
  }

  /** {@link #ready} with a future that was there before. */
  CompletableFuture<Ready> complete(CompletableFuture<Ready> ready) {
    if (view.isLoaded() || view.status() == Status.CLOSED || options.problem != null) {
      ready.complete(outcome());
      return ready;
    }
    closed.thenRun(() -> ready.complete(outcome())); // if the loop ends before it comes to this
    loop.execute(
        () -> {
          waiting.add(ready);
          if (view.isLoaded() || isClosed()) settle();
          else loop.after(options.readyTimeout.toMillis(), () -> ready.complete(outcome()));
        });
    return ready;
  }

  /** The load from the server stands elsewhere. */
  void become(Status next) {
    if (isClosed()) return;
    status = next;
    if (next == Status.CLOSED) Loop.cancel(lapse);
    publish(view.flags(), view.isServed(), Set.of());
  }

  /** Replaces what reads are answered from, and says what has changed. */
  private void publish(Map<String, FlagState> flags, boolean isServed, Set<String> changed) {
    View before = view;
    boolean isLoaded = before.isLoaded() || isServed;
    boolean isOnlyKept = isLoaded && (status == Status.FAILED || status == Status.CONNECTING);
    view = new View(isOnlyKept ? Status.STALE : status, flags, isLoaded, isServed, gate.known());

    if (view.status() != before.status()) listener.onStatus(view.status());
    if (!changed.isEmpty()) listener.onChange(changed);
    if (view.status() != before.status()) settle();
  }

  private void settle() {
    Ready ready = outcome();
    for (CompletableFuture<Ready> each : waiting) each.complete(ready);
    waiting.clear();
  }

  private Ready outcome() {
    View now = view;
    if (options.problem != null) return new Ready(Ready.Outcome.FAILED, options.problem);
    if (now.status() == Status.CLOSED)
      return new Ready(Ready.Outcome.FAILED, new HalyardException("client_closed", "the client is closed"));
    if (now.isLoaded()) return new Ready(now.isServed() ? Ready.Outcome.READY : Ready.Outcome.BOOTSTRAPPED, null);
    return new Ready(
        now.status() == Status.FAILED ? Ready.Outcome.FAILED : Ready.Outcome.TIMEOUT,
        Objects.requireNonNullElseGet(error, () -> new HalyardException("timeout", "no answer in time")));
  }

  /** The map is current, until {@link #lapseIn}. */
  void confirm() {
    lapse = Loop.cancel(lapse);
    if (status != Status.READY) become(Status.READY);
  }

  /** The map is stale in so many milliseconds, counted from the first call, unless it is confirmed. */
  void lapseIn(long ms) {
    if (status == Status.READY && lapse == null) lapse = loop.after(ms, () -> become(Status.STALE));
  }

  /** The first load has failed, unless there is a map. */
  void giveUp() {
    if (status == Status.CONNECTING) become(Status.FAILED);
  }

  /** Says that something failed. */
  void report(HalyardException failure) {
    if (isClosed()) return;
    error = failure;
    listener.onError(failure);
  }

  /**
   * Takes a map unless the one at hand is newer, and reports what is wrong with it. Without a map, the one at hand has that
   * revision, too. (C2.19)
   */
  RevisionGate.Verdict offer(FlagState.Parsed parsed, long revision, long askedAt, boolean isSighting, String tag) {
    RevisionGate.Verdict verdict = gate.judge(revision, askedAt, isSighting);
    if (verdict == RevisionGate.Verdict.KEEP) return verdict;
    if (parsed == null) {
      publish(view.flags(), view.isServed(), Set.of());
      return verdict;
    }

    Set<String> changed = FlagState.reconcile(view.flags(), parsed.flags());
    error = null;
    etag = tag;
    if (status == Status.CONNECTING || status == Status.FAILED) status = isSighting ? Status.READY : Status.STALE;
    publish(changed.isEmpty() ? view.flags() : parsed.flags(), true, changed);

    if (verdict == RevisionGate.Verdict.RESET)
      listener.onError(new HalyardException("revision_reset", "the revisions restarted lower"));
    for (String key : parsed.rejected())
      if (rejected.add(key))
        listener.onError(new HalyardException("invalid_response", "the flag " + key + " is damaged and was left out"));
    return verdict;
  }
}
