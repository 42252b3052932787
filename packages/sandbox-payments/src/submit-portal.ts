import type { PortalNotice, SandboxCard } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { SandboxDeps } from './announce-changes.ts';
import { changeInPortal, type PortalChange } from './change-in-portal.ts';
import { updatePortalChallenge } from './portal-queries.ts';
import type { SandboxPortal } from './sandbox-session.ts';

export interface PortalForm {
  readonly action: Exclude<PortalChange['action'], 'pay_confirmed'> | 'confirm' | 'fail';
  readonly planId: string | undefined;
  readonly card: SandboxCard | undefined;
}

/** Carries out the form of the portal page. Returns the notice that the page then shows. Throws 422 for a missing field. */
export const submitPortal = async (
  deps: SandboxDeps,
  portal: SandboxPortal,
  form: PortalForm,
): Promise<PortalNotice | undefined> => {
  const isAnswer = form.action === 'confirm' || form.action === 'fail';
  // Without a question there is nothing to answer.
  if (isAnswer && !portal.isChallenged) return undefined;
  if (portal.isChallenged) await updatePortalChallenge(deps.database, portal.id, false);
  const change = toChange(form);
  if (change === undefined) return 'not_confirmed';
  const result = await changeInPortal(deps, portal.customer, change);
  if (result !== 'challenged') return result;
  await updatePortalChallenge(deps.database, portal.id, true);
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
