import type { Account } from '@svc/contracts';
import { useMutation } from '@tanstack/react-query';
import { createContext, type ReactElement, use, useState, useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';
import { useApi, useApiQuery } from '../api/index.ts';
import { useCoreI18n, useI18n } from '../i18n/index.ts';
import { DialogActions } from '../overlays/index.ts';
import { canUsePasskeys, presentPasskey } from '../passkeys.ts';
import {
  Button,
  checkText,
  ErrorNotice,
  Form,
  type FormState,
  fault,
  PasswordField,
  TextField,
  useForm,
} from '../ui/index.ts';
import type { Session, SessionState } from './session.ts';

/** The session that all pages share. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session of this page. */
export const useSession = (): Session => {
  const session = use(SessionContext);
  if (session === undefined) throw new Error('there is no SessionContext above');
  return session;
};

/** Returns the state of the session. The component follows its changes. */
export const useSessionState = (): SessionState => {
  const { subscribe, state } = useSession();
  return useSyncExternalStore(subscribe, state);
};

/** Returns the account whose pages are shown; undefined without one. */
export const accountOf = (state: SessionState): Account | undefined =>
  state.status === 'signed_in' || state.status === 'ended' ? state.account : undefined;

/** Returns the signed-in account. Only for pages behind the sign-in. */
export const useAccount = (): Account => {
  const account = accountOf(useSessionState());
  if (account === undefined) throw new Error('no one is signed in');
  return account;
};

/** Returns true if the pages are about a business: the account that is signed in, or one that the person acts for. */
export const useIsBusiness = (): boolean => {
  const { account_type, organization } = useAccount();
  return account_type === 'business' || organization !== null;
};

type TypedProof = 'password' | 'code';

interface Values {
  readonly password: string;
  readonly code: string;
}

/** Accepts the password, or a code or passkey if the account has one. */
export const StepUpForm = ({ onProven }: { onProven: () => void }): ReactElement => {
  const { session: texts, errors } = useCoreI18n().messages;
  const { call } = useApi();
  const session = useSession();
  const factors = useApiQuery('listFactors', {});
  const sso = useApiQuery('getSso', {});
  const types = factors.data?.data.map(({ type }) => type) ?? [];
  const [proof, setProof] = useState<TypedProof>('password');
  const form = useForm<Values>({
    initial: { password: '', code: '' },
    check: (values) => checkText(proof, values[proof], { required: true }),
    submit: async ({ password, code }) => {
      const body = proof === 'password' ? { password } : { code };
      session.renewToken(await call('reauthenticate', { body }));
      onProven();
    },
    faultFor: ({ code }) => {
      if (code === 'wrong_code') return fault('code', errors.next.wrong_code);
      return code === 'wrong_password' ? fault('password', errors.next.wrong_password) : undefined;
    },
  });
  const changeProof = (): void => {
    form.reset({ password: '', code: '' });
    // The field must be rendered before it can take the focus.
    flushSync(() => setProof(proof === 'password' ? 'code' : 'password'));
    form.formRef.current?.querySelector<HTMLElement>('.input')?.focus();
  };
  const hasTotp = types.includes('totp');
  const hasPasskey = types.includes('passkey') && canUsePasskeys();
  return (
    <Form form={form} label={texts.stepUpTitle}>
      <p>{texts.stepUpLead}</p>
      <ProofField form={form} proof={proof} />
      {(hasTotp || hasPasskey || sso.data?.enabled === true) && (
        <div className="ways">
          {hasTotp && (
            <Button small onClick={changeProof}>
              {proof === 'password' ? texts.stepUpCode : texts.stepUpPassword}
            </Button>
          )}
          {hasPasskey && <PasskeyProof onProven={onProven} />}
          {sso.data?.enabled === true && <a href={freshSignInPath()}>{texts.stepUpSso(sso.data.name ?? undefined)}</a>}
        </div>
      )}
      <DialogActions>
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? texts.stepUpChecking : undefined}>
          {texts.stepUpConfirm}
        </Button>
      </DialogActions>
    </Form>
  );
};

/** Returns the path that signs in again at the OpenID provider and returns to this page. */
const freshSignInPath = (): string => {
  const { pathname, search } = globalThis.location;
  return `/v1/console/sso/start?${new URLSearchParams({ fresh: 'true', return_to: `${pathname}${search}` })}`;
};

const ProofField = ({ form, proof }: { form: FormState<Values>; proof: TypedProof }): ReactElement => {
  const { session: texts, factors } = useI18n().messages;
  const { email } = useAccount();
  if (proof === 'code') {
    return (
      <TextField
        label={factors.totpCode}
        hint={factors.totpCodeHint}
        inputMode="numeric"
        autoComplete="one-time-code"
        value={form.values.code}
        onChange={(code) => form.set('code', code)}
        fault={form.faultOf('code')}
      />
    );
  }
  return (
    <>
      {/* For password managers. */}
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <PasswordField
        label={texts.password}
        autoComplete="current-password"
        value={form.values.password}
        onChange={(password) => form.set('password', password)}
        fault={form.faultOf('password')}
      />
    </>
  );
};

/** Authenticates the person by a passkey. */
const PasskeyProof = ({ onProven }: { onProven: () => void }): ReactElement => {
  const { session: texts } = useCoreI18n().messages;
  const { call } = useApi();
  const session = useSession();
  const proof = useMutation({
    mutationFn: async () => {
      const assertion = await presentPasskey(await call('createReauthenticationOptions', {}));
      return await call('reauthenticate', { body: { assertion } });
    },
    onSuccess: (renewed) => {
      session.renewToken(renewed);
      onProven();
    },
  });
  return (
    <>
      <Button small busyLabel={proof.isPending ? texts.stepUpChecking : undefined} onClick={() => proof.mutate()}>
        {texts.stepUpPasskey}
      </Button>
      {proof.isError && <ErrorNotice error={proof.error} />}
    </>
  );
};
