/** Where somebody stands between 0 and 100, and how far the rollout reaches. Said in words beside it. */
export function ShareScale({ share, threshold }: { share: number; threshold: number }) {
  return (
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" className="mt-1.5 h-2 w-full" aria-hidden="true">
      <rect y="2" width="100" height="4" className="fill-line" />
      <rect y="2" width={threshold} height="4" className="fill-accent" />
      <rect x={Math.min(99.2, Math.max(0, share - 0.4))} width="0.8" height="8" className="fill-ink" />
    </svg>
  );
}
