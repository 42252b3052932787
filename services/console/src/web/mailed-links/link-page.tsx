import { type ReactElement, useState } from 'react';
import { ApiError, useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useSession } from '../session/index.ts';
import { Button, ButtonLink, Form, Notice, Page, useForm } from '../ui/index.ts';
import { useMailedToken } from './use-mailed-token.ts';

type LinkOperation = 'confirmVerification' | 'confirmEmailChange' | 'undoEmailChange' | 'cancelDeletion';

/** Performs the action of a mailed link when its button is pressed: mail scanners open links too. */
export const LinkPage = ({ operation }: { operation: LinkOperation }): ReactElement => {
  const { links, session: sessionTexts } = useI18n().messages;
  const { call } = useApi();
  const session = useSession();
  const token = useMailedToken();
  const [isDone, setDone] = useState(false);
  const texts = links[operation];
  const canRequestAnother = operation === 'confirmVerification' || operation === 'confirmEmailChange';
  const form = useForm({
    initial: {},
    submit: async () => {
      await call(operation, { body: { token: token ?? '' } });
      setDone(true);
      await renewIfSignedIn(session);
    },
  });
  const isRefused = token === undefined || (form.error instanceof ApiError && form.error.code === 'token_invalid');
  return (
    <Page title={texts.title} lead={isDone || isRefused ? undefined : texts.lead}>
      {isDone && <Notice tone="good">{texts.done}</Notice>}
      {!isDone && isRefused && <Notice tone="warn">{canRequestAnother ? links.refused : links.refusedFinally}</Notice>}
      {!isDone && !isRefused && (
        <Form form={form} label={texts.title}>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? links.working : undefined}>
            {texts.button}
          </Button>
        </Form>
      )}
      {(isDone || isRefused) && <ButtonLink to="/">{sessionTexts.toConsole}</ButtonLink>}
    </Page>
  );
};

/** Renews the session of this browser, which may have ended or whose account may have changed. */
export const renewIfSignedIn = async (session: ReturnType<typeof useSession>): Promise<void> => {
  if (session.state().status === 'signed_in') await session.renew().catch(() => undefined);
};
