import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { ButtonLink, EmptyState, Page } from '../ui/index.ts';

/** At an address that is no page. */
export const NotFoundPage = (): ReactElement => {
  const { shell } = useI18n().messages;
  return (
    <Page title={shell.notFoundTitle}>
      <EmptyState
        text={shell.notFoundText}
        action={
          <ButtonLink to="/" variant="primary">
            {shell.toOverview}
          </ButtonLink>
        }
      />
    </Page>
  );
};

/** At a page for business accounts, for anybody else. */
export const BusinessOnlyPage = (): ReactElement => {
  const { shell } = useI18n().messages;
  return (
    <Page title={shell.apps}>
      <EmptyState
        title={shell.businessOnlyTitle}
        text={shell.businessOnlyText}
        action={<ButtonLink to="/account">{shell.settings}</ButtonLink>}
      />
    </Page>
  );
};
