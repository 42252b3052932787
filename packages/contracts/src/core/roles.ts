/** Roles of members of an organization, from the least to the greatest. `billing` and `developer` stand beside each other. */
export const roles = ['viewer', 'billing', 'developer', 'admin', 'owner'] as const;

export type Role = (typeof roles)[number];

/**
 * Roles that may call a route, by what the route needs. `person`: it concerns the signed-in person, for whichever
 * organization the token acts.
 */
const rolesByNeed = {
  person: roles,
  viewer: roles,
  billing: ['billing', 'admin', 'owner'],
  developer: ['developer', 'admin', 'owner'],
  'billing or developer': ['billing', 'developer', 'admin', 'owner'],
  admin: ['admin', 'owner'],
  owner: ['owner'],
} as const satisfies Record<string, readonly Role[]>;

/** Need of a route: the least role, several beside each other, or only a person. */
export type RoleNeed = keyof typeof rolesByNeed;

/** Returns true if a member with this role may call routes that need this. */
export const isRoleEnough = (role: Role, need: RoleNeed): boolean =>
  rolesByNeed[need].some((sufficient) => sufficient === role);

/** Returns the least role that is enough: the first in the order of `roles`. */
export const leastRole = (need: RoleNeed): Role => rolesByNeed[need][0];

/** Acts that the audit log of an organization records. */
export const auditActions = [
  'account.deletion_requested',
  'alerts.changed',
  'api_key.created',
  'api_key.deleted',
  'api_key.rotated',
  'api_key.updated',
  'app.deleted',
  'app.icon_changed',
  'app.registered',
  'app.secret_rotated',
  'app.updated',
  'auto_top_up.changed',
  'checkout.confirmed',
  'checkout.started',
  'domain.added',
  'domain.checked',
  'domain.removed',
  'extra_usage.changed',
  'invitation.accepted',
  'invitation.created',
  'invitation.withdrawn',
  'management_key.created',
  'management_key.deleted',
  'member.limit_changed',
  'member.removed',
  'member.role_changed',
  'organization.owner_added',
  'organization.renamed',
  'organization.settings_changed',
  'portal.opened',
  'seat.assigned',
  'seats.changed',
  'top_up.started',
  'webhook.configured',
  'webhook.deleted',
  'webhook.event_recovered',
  'webhook.event_sent',
  'webhook.secret_rotated',
  'webhook.tested',
] as const;

export type AuditAction = (typeof auditActions)[number];
