import { isSessionEnd } from '../api/api-error.ts';
import { ErrorText } from '../components/error-text.tsx';
import { toast } from '../components/toasts.tsx';

/** Says in a message that something failed, and why. When the session has ended, only the sign-in dialog speaks. */
export function toastFailure(title: string, error: unknown): void {
  if (isSessionEnd(error)) return;
  toast({ kind: 'problem', title, detail: <ErrorText error={error} /> });
}
