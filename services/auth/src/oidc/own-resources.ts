/** Returns the resource indicators that name this server: the audience of every access token, and the delegated API. */
export const ownResources = (issuer: string): readonly string[] => [`${issuer}/v1`, `${issuer}/v1/integrations`];
