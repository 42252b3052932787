import type { AutoTopUpFailure, Locale, Role } from '@svc/contracts';

/** Use of a limit, formatted in the mail's language. */
interface LimitUse {
  readonly percent: number;
  readonly used: string;
  readonly limit: string;
  readonly resetsOn: string | null;
}

/** A plan, and the day that matters to its owner, formatted in the mail's language. */
interface PlanDay {
  readonly planName: string;
  readonly on: string;
}

/** Data of each kind of mail. `token` is part of the mail's link. */
export interface MailData {
  verify_email: { readonly token: string };
  sign_up_repeated: Record<string, never>;
  deletion_requested: { readonly token: string; readonly erasedOn: string; readonly organization: string | null };
  reset_password: { readonly token: string };
  confirm_email_change: { readonly token: string };
  email_change_requested: { readonly token: string; readonly newEmail: string };
  email_changed: { readonly token: string; readonly newEmail: string };
  password_changed: Record<string, never>;
  new_device: { readonly device: string | null; readonly network: string | null; readonly at: string };
  management_key_created: { readonly name: string; readonly scopes: string };
  api_key_created: { readonly keyName: string; readonly prefix: string; readonly at: string };
  factor_changed: {
    readonly change: 'added' | 'removed' | 'recovery_codes_renewed' | 'recovery_code_used' | 'reset';
    /** Name of the factor; empty for recovery codes and a reset. */
    readonly name: string;
  };
  link_identity: { readonly token: string; readonly provider: string };
  identity_linked: { readonly provider: string };
  organization_invitation: {
    readonly token: string;
    readonly organization: string;
    readonly inviter: string;
    readonly role: Role;
  };
  app_connected: { readonly appName: string };
  domain_proof_missing: { readonly domain: string; readonly hasLapsed: boolean };
  app_suspended: { readonly appName: string };
  /** `appName` is null for the webhook of the account itself. */
  webhook_blocked: {
    readonly appName: string | null;
    readonly event: string;
    readonly eventId: string;
    readonly at: string;
    readonly page: MailPage;
  };
  webhook_paused: { readonly appName: string | null; readonly page: MailPage };
  webhook_recovered: { readonly appName: string | null; readonly page: MailPage };
  plan_purchased: PlanDay;
  plan_payment_failed: PlanDay;
  plan_cancelled: PlanDay;
  plan_ended: PlanDay & { readonly isUnpaid: boolean };
  cap_alert: LimitUse & { readonly isWeekly: boolean; readonly planName: string };
  app_budget_alert: LimitUse & { readonly appName: string };
  extra_use_alert: LimitUse;
  key_limit_alert: LimitUse & { readonly keyName: string };
  auto_top_up_failed: { readonly amount: string; readonly reason: AutoTopUpFailure['reason'] };
  wallet_low: { readonly balance: string; readonly below: string };
}

export type MailKind = keyof MailData;

/** A mail to one person about one event. */
export type Mail = {
  [K in MailKind]: {
    readonly kind: K;
    readonly userId: string;
    readonly to: string;
    readonly locale: Locale;
    readonly data: MailData[K];
  };
}[MailKind];

/** Kinds that a person requests and may request again; they count per address. The others are notices. */
const REQUESTED: ReadonlySet<MailKind> = new Set([
  'verify_email',
  'sign_up_repeated',
  'reset_password',
  'confirm_email_change',
  'link_identity',
]);

export const isRequested = (kind: MailKind): boolean => REQUESTED.has(kind);

/** Text of a mail in one language. */
export interface MailText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** The mail's only link, shown as a button in HTML. */
  readonly link: { readonly label: string; readonly page: MailPage; readonly token?: string };
}

/** Console pages that mails link to. */
export type MailPage =
  | 'verify-email'
  | 'reset-password'
  | 'confirm-email'
  | 'undo-email'
  | 'cancel-deletion'
  | 'invitations'
  | 'sign-in/link/confirm'
  | 'account'
  | 'apps'
  | 'connections'
  | 'keys'
  | 'plans'
  | 'wallet'
  | 'account/webhook'
  | `apps/${string}/webhook`;

/** The texts of one language. */
export type MailTexts = { readonly [K in MailKind]: (data: MailData[K]) => MailText };
