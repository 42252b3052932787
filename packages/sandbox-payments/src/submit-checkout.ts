import type { SandboxCard } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { SandboxDeps } from './announce-changes.ts';
import { paySession } from './pay-session.ts';
import type { SandboxSession } from './sandbox-session.ts';
import { updateAttempt } from './session-queries.ts';

/**
 * Attempts a payment, or answers the bank's question about one. Returns true if the checkout is paid. Otherwise its page
 * shows the reason.
 */
export const submitCheckout = async (
  deps: SandboxDeps,
  { id, status, isChallenged }: SandboxSession,
  { action, card }: { readonly action: 'pay' | 'confirm' | 'fail'; readonly card: SandboxCard },
): Promise<boolean> => {
  const fail = async (attempt: Parameters<typeof updateAttempt>[2]): Promise<false> => {
    await updateAttempt(deps.database, id, attempt);
    return false;
  };
  if (status === 'complete') return true;
  if (action === 'pay' && card === 'declines') return fail({ isChallenged: false, failure: 'declined' });
  if (action === 'pay' && card === 'asks_to_confirm') return fail({ isChallenged: true, failure: null });
  // Without a question there is nothing to answer.
  if (action !== 'pay' && !isChallenged) return false;
  if (action === 'fail') return fail({ isChallenged: false, failure: 'not_confirmed' });
  try {
    await paySession(deps, id, action === 'confirm' ? 'asks_to_confirm' : card);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'conflict') return false;
    throw error;
  }
};
