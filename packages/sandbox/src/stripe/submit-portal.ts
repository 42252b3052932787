import type { PortalNotice, SandboxCard } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Account } from './account.ts';
import { changeInPortal, type PortalChange } from './change-in-portal.ts';
import type { Portal } from './objects.ts';

export interface PortalForm {
  readonly action: Exclude<PortalChange['action'], 'pay_confirmed'> | 'confirm' | 'fail';
  readonly planId: string | undefined;
  readonly card: SandboxCard | undefined;
}

/** Carries out the form of the portal page. Returns the notice that the page then shows. Throws 422 for a missing field. */
export const submitPortal = async (
  account: Account,
  { id, customer, sandbox }: Portal,
  form: PortalForm,
): Promise<PortalNotice | undefined> => {
  const isAnswer = form.action === 'confirm' || form.action === 'fail';
  // Without a question there is nothing to answer.
  if (isAnswer && !sandbox.is_challenged) return undefined;
  if (sandbox.is_challenged) account.objects.update(id, { sandbox: { is_challenged: false } });
  const change = toChange(form);
  if (change === undefined) return 'not_confirmed';
  const result = await changeInPortal(account, customer, change);
  if (result !== 'challenged') return result;
  account.objects.update(id, { sandbox: { is_challenged: true } });
  return undefined;
};

const toChange = ({ action, planId, card }: PortalForm): PortalChange | undefined => {
  switch (action) {
    case 'fail':
      return undefined;
    case 'confirm':
      return { action: 'pay_confirmed' };
    case 'change_plan':
      return { action, planId: required('plan_id', planId) };
    case 'change_card':
      return { action, card: required('card', card) };
    default:
      return { action };
  }
};

const required = <T>(field: string, value: T | undefined): T => {
  if (value === undefined) throw invalidField(['form', field], 'missing', 'Field required');
  return value;
};
