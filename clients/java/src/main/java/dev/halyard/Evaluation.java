package dev.halyard;

/**
 * The result of a read.
 *
 * @param key the flag that was read
 * @param targetingKey for whom; {@code null} for no one in particular
 * @param enabled whether the flag is on for that target
 * @param reason why
 * @param state the flag as the server sent it; {@code null} if there is none
 */
public record Evaluation(String key, String targetingKey, boolean enabled, Reason reason, FlagState state) {
  /** Why a flag is on or off. */
  public enum Reason {
    /** No flags have been loaded yet. */
    NOT_READY,
    /** The flag does not exist. */
    NOT_FOUND,
    /** The flag is off. */
    DISABLED,
    /** The flag is on for everyone. */
    STATIC,
    /** A rollout decided. One of 0 per cent excludes everyone and needs no targeting key. */
    SPLIT,
    /** The rollout is partial and there is no targeting key to decide by, so that the flag is on, as its switch says. */
    UNTARGETED
  }

  /** Evaluates a flag, the one place that decides whether it is on. (Contract: C4.1, C4.3) */
  static Evaluation of(String key, String targetingKey, FlagState state, boolean isLoaded) {
    if (state == null)
      return new Evaluation(key, targetingKey, false, isLoaded ? Reason.NOT_FOUND : Reason.NOT_READY, null);
    if (!state.enabled()) return new Evaluation(key, targetingKey, false, Reason.DISABLED, state);
    if (!state.isPartial()) return new Evaluation(key, targetingKey, true, Reason.STATIC, state);
    if (state.rolloutPct() == 0) return new Evaluation(key, targetingKey, false, Reason.SPLIT, state);
    if (targetingKey == null) return new Evaluation(key, null, true, Reason.UNTARGETED, state);
    boolean isIn = Rollout.includes(key, targetingKey, state.rolloutPct());
    return new Evaluation(key, targetingKey, isIn, Reason.SPLIT, state);
  }

  /**
   * The flag's value.
   *
   * @return the value, {@code true} for a flag that is on and has none, and {@code null} for a flag that is off
   */
  public Object value() {
    return !enabled ? null : state.hasValue() ? state.value() : Boolean.TRUE;
  }
}
