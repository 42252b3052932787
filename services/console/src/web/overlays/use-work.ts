import { type Mutation, type MutationCache, useQueryClient } from '@tanstack/react-query';
import { useCallback, useState, useSyncExternalStore } from 'react';
import { useLeaveGuard } from '../leave-guard.tsx';

const pendingIn = (cache: MutationCache): Mutation[] => cache.findAll({ status: 'pending' });

/**
 * Returns true while a change that began after the dialog opened is under way, and guards the page until it ends.
 * Every change and every form is a mutation, so a dialog need not say that it works. Earlier ones belong to what is
 * below the dialog, such as the change that waits for the person to authenticate again.
 */
export const useWork = (): boolean => {
  const cache = useQueryClient().getMutationCache();
  const [earlier] = useState(() => new Set(pendingIn(cache)));
  const isWorking = useSyncExternalStore(
    useCallback((listener: () => void) => cache.subscribe(listener), [cache]),
    () => pendingIn(cache).some((mutation) => !earlier.has(mutation)),
  );
  useLeaveGuard(isWorking);
  return isWorking;
};
