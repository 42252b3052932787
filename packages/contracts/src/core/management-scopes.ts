/** Scopes of management keys. Each route that takes a console session states its own, or that it takes no such key. */
export const managementScopes = [
  'api_keys:read',
  'api_keys:write',
  'wallet:read',
  'usage:read',
  'apps:read',
  'apps:write',
  'webhooks:read',
  'webhooks:write',
] as const;

export type ManagementScope = (typeof managementScopes)[number];

/** Returns the scopes of which one is enough for a route: its own, and the `:write` that includes a `:read`. */
export const sufficientScopes = (wanted: ManagementScope): readonly ManagementScope[] => {
  const writing = wanted.replace(/:read$/, ':write');
  return managementScopes.filter((scope) => scope === wanted || scope === writing);
};
