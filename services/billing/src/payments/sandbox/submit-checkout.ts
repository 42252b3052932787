import type { SandboxCard } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { SandboxDeps } from './announce-changes.ts';
import { paySession } from './pay-session.ts';
import { updateAttempt } from './queries.ts';
import type { SandboxSession } from './sandbox-records.ts';

/**
 * Attempts what the form of the checkout page asks for: paying with a card, or an answer to the question of its bank. Answers
 * whether the checkout is paid; otherwise its page says why it is not.
 */
export const submitCheckout = async (
  deps: SandboxDeps,
  { id, status, isChallenged }: SandboxSession,
  { action, card }: { readonly action: 'pay' | 'confirm' | 'fail'; readonly card: SandboxCard },
): Promise<boolean> => {
  const note = async (attempt: Parameters<typeof updateAttempt>[2]): Promise<false> => {
    await updateAttempt(deps.database, id, attempt);
    return false;
  };
  if (status === 'complete') return true;
  if (action === 'pay' && card === 'declines') return note({ isChallenged: false, failure: 'declined' });
  if (action === 'pay' && card === 'asks_to_confirm') return note({ isChallenged: true, failure: null });
  // An answer to a question that nobody has asked changes nothing.
  if (action !== 'pay' && !isChallenged) return false;
  if (action === 'fail') return note({ isChallenged: false, failure: 'not_confirmed' });
  try {
    await paySession(deps, id, action === 'confirm' ? 'asks_to_confirm' : card);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'conflict') return false;
    throw error;
  }
};
