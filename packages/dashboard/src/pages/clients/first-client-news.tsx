import PartyPopper from 'lucide-react/icons/party-popper';
import { useEffect, useRef, useState } from 'react';
import { announce } from '../../components/live-region.tsx';

/** Says so when the first client connects while somebody is waiting for it. */
export function FirstClientNews({ streams }: { streams: number }) {
  const before = useRef(streams);
  const [isFirst, setFirst] = useState(false);
  useEffect(() => {
    if (before.current === 0 && streams > 0) {
      setFirst(true);
      announce('Your first client is connected');
    }
    before.current = streams;
  }, [streams]);
  if (!isFirst) return null;
  return (
    <p className="mb-3 flex animate-enter items-center gap-2.5 rounded-lg bg-good-soft px-4 py-3 text-good">
      <PartyPopper size={18} className="shrink-0" aria-hidden />
      <span>
        <strong className="font-semibold">A client is connected.</strong> Flip a flag: it arrives there before
        your finger is back.
      </span>
    </p>
  );
}
