/** Returns the resource indicators of this server: the audience of access tokens, and the delegated API. */
export const ownResources = (issuer: string): readonly string[] => [`${issuer}/v1`, `${issuer}/v1/integrations`];
