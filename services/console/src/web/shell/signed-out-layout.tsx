import type { ReactElement, ReactNode } from 'react';
import { docsPath, useCoreI18n } from '../i18n/index.ts';
import { Brand } from './brand.tsx';
import { PreferenceFields } from './preference-fields.tsx';

/** Renders the frame of pages before sign-in. */
export const SignedOutLayout = ({ children }: { children: ReactNode }): ReactElement => {
  const { messages, locale } = useCoreI18n();
  return (
    <div className="entrance">
      <a className="skip-link" href="#content">
        {messages.common.skipToContent}
      </a>
      <header>
        <Brand />
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer>
        <PreferenceFields />
        <a href={docsPath(locale)}>{messages.shell.documentation}</a>
      </footer>
    </div>
  );
};
