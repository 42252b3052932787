/** Address and keys of the stand-in for Stripe. They open nothing: an event is a hint, after which billing asks Stripe. */
export const STRIPE_SANDBOX = {
  apiBase: 'http://127.0.0.1:9300',
  secretKey: 'sk_test_sandbox',
  webhookSecret: 'whsec_sandbox',
} as const;
