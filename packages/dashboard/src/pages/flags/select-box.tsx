/** Chooses a row; the target is larger than the box. */
export function SelectBox({
  label,
  isChosen,
  onChange,
}: {
  label: string;
  isChosen: boolean;
  onChange: () => void;
}) {
  return (
    <label className="inline-flex size-6 items-center justify-center">
      <input
        type="checkbox"
        aria-label={label}
        className="size-4 accent-accent"
        checked={isChosen}
        onChange={onChange}
      />
    </label>
  );
}
