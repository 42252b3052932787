interface TrustedTypes {
  readonly createPolicy: (
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ) => { readonly createScriptURL: (url: string) => string };
}

const trustedTypes = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;

/** The only policy of the pages: workers may start from this origin's files. */
const policy = trustedTypes?.createPolicy('svc-workers', {
  createScriptURL: (url) => {
    if (!url.startsWith('/') || url.startsWith('//')) throw new Error('the address is not of this origin');
    return url;
  },
});

/** Returns the path of a worker's script as the content security policy requires it. */
export const trustedUrl = (path: string): string => policy?.createScriptURL(path) ?? path;
