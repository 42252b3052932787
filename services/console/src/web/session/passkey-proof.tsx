import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { presentPasskey } from '../passkeys/index.ts';
import { Button, ErrorNotice } from '../ui/index.ts';
import { useSession } from './use-session.ts';

/** Authenticates the person by a passkey. */
export const PasskeyProof = ({ onProven }: { onProven: () => void }): ReactElement => {
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
