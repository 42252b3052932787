import { useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { describeError } from '../ui/index.ts';

/** Returns a function that signs out, and true while it does. A failure is shown in a toast. */
export const useSignOut = (): { readonly signOut: () => void; readonly isLeaving: boolean } => {
  const { messages, formats } = useCoreI18n();
  const session = useSession();
  const toast = useToast();
  const [isLeaving, setLeaving] = useState(false);
  const signOut = (): void => {
    setLeaving(true);
    session.signOut().catch((error: unknown) => {
      setLeaving(false);
      toast(describeError(error, messages, formats).text);
    });
  };
  return { signOut, isLeaving };
};
