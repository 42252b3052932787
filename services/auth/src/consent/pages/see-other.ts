import type { ReplyContent } from '@svc/service-kit';

/** Redirects with 303, so that the browser follows with GET and does not resend the form (RFC 9700 section 4.12). */
export const seeOther = (location: string): ReplyContent => ({ status: 303, headers: { location } });
