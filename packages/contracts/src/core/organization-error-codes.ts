import { code } from './error-body.ts';

/** Error codes of organizations, of their members and seats. */
export const organizationErrorCodes = {
  role_not_allowed: code(
    'any',
    'forbidden',
    403,
    'Your role in the organization does not allow this; `required_role` is the least that does.',
  ),
  last_owner: code('auth', 'conflict', 409, 'The organization needs an owner. Make another member an owner first.'),
  already_member: code('auth', 'conflict', 409, 'A member of the organization has this address.'),
  invitation_for_another: code(
    'auth',
    'forbidden',
    403,
    'The invitation is for another address than that of this account.',
  ),
  organization_requires_second_factor: code(
    'auth',
    'forbidden',
    403,
    'The organization requires a second factor. Add one to your account first.',
  ),
  member_monthly_limit_exceeded: code(
    'billing',
    'limit',
    402,
    'The API keys of this member have reached the monthly limit that the organization has set for them together.',
  ),
  seats_assigned: code(
    'billing',
    'conflict',
    409,
    'More seats are assigned than would be left. Take seats away first.',
  ),
  no_free_seat: code('billing', 'conflict', 409, 'Every seat of this plan is assigned. Buy another one first.'),
  member_has_plan: code('billing', 'conflict', 409, 'The member pays for a plan. It must end first.'),
} as const;
