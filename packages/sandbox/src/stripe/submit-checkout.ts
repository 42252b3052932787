import type { SandboxCard } from '@svc/contracts';
import type { Account } from './account.ts';
import { nowOf } from './advance-subscription.ts';
import { paySession } from './checkout-sessions.ts';
import type { Session } from './objects.ts';

/**
 * Attempts a payment, or answers the bank's question about one. Returns true if the checkout is paid. Otherwise its page
 * shows the reason.
 */
export const submitCheckout = async (
  account: Account,
  session: Session,
  { action, card }: { readonly action: 'pay' | 'confirm' | 'fail'; readonly card: SandboxCard },
): Promise<boolean> => {
  const { status, sandbox } = session;
  const fail = (attempt: Pick<Session['sandbox'], 'is_challenged' | 'failure'>): false => {
    account.objects.update(session.id, { sandbox: { ...sandbox, ...attempt } });
    return false;
  };
  if (status !== 'open') return status === 'complete';
  if (action === 'pay' && card === 'declines') return fail({ is_challenged: false, failure: 'declined' });
  if (action === 'pay' && card === 'asks_to_confirm') return fail({ is_challenged: true, failure: null });
  // Without a question there is nothing to answer.
  if (action !== 'pay' && !sandbox.is_challenged) return false;
  if (action === 'fail') return fail({ is_challenged: false, failure: 'not_confirmed' });
  paySession(account, session, { card: action === 'confirm' ? 'asks_to_confirm' : card, at: nowOf(account) });
  await account.announce();
  return true;
};
