import type { ReactNode } from 'react';

/** Shows more of what is above it, or less. */
export function FoldButton({
  isOpen,
  onToggle,
  children,
}: {
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      className="target mt-1 min-h-6 text-xs text-accent hover:underline"
      onClick={() => onToggle(!isOpen)}
    >
      {children}
    </button>
  );
}
