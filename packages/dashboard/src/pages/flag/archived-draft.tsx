import { Button } from '../../components/button.tsx';

/** Tells who is editing that somebody has archived the flag meanwhile: what was typed stays, to be copied or kept. */
export function ArchivedDraft({ onDiscard }: { onDiscard: () => void }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line bg-warn-soft px-4 py-2.5"
    >
      <p className="min-w-0 flex-1 basis-64 text-warn">
        The flag was archived while you were editing. What you typed is kept here, and can be saved once the
        flag is restored.
      </p>
      <Button onClick={onDiscard}>Discard</Button>
    </div>
  );
}
