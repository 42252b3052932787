import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
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
import { useAccount, useSession } from './use-session.ts';

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
