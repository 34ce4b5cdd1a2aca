import Check from 'lucide-react/icons/check';

/** A checkbox whose whole square of 24 pixels takes the click; the visible box is smaller. */
export function Checkbox({
  label,
  isChecked,
  onChange,
}: {
  label: string;
  isChecked: boolean;
  onChange: () => void;
}) {
  return (
    <span className="relative isolate inline-flex size-6 shrink-0 items-center justify-center align-middle">
      <input
        type="checkbox"
        aria-label={label}
        className="peer absolute inset-0 z-10 cursor-pointer appearance-none rounded"
        checked={isChecked}
        onChange={onChange}
      />
      <span className="flex size-4 items-center justify-center rounded-sm border border-line-strong bg-surface text-accent-ink peer-checked:border-accent peer-checked:bg-accent">
        {isChecked && <Check size={12} strokeWidth={3} aria-hidden />}
      </span>
    </span>
  );
}
