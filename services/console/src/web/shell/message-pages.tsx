import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { ButtonLink, EmptyState, Page } from '../ui/index.ts';

/** Shows that an address has no page. */
export const NotFoundPage = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  return (
    <Page title={shell.notFoundTitle}>
      <EmptyState
        icon="info"
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

/** Shows that a page requires a business account. */
export const BusinessOnlyPage = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  return (
    <Page title={shell.apps}>
      <EmptyState
        icon="apps"
        title={shell.businessOnlyTitle}
        text={shell.businessOnlyText}
        action={<ButtonLink to="/account">{shell.settings}</ButtonLink>}
      />
    </Page>
  );
};
