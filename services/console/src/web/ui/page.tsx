import { createContext, type ReactElement, type ReactNode, use, useEffect, useRef } from 'react';
import { useCoreI18n } from '../i18n/index.ts';

/** Name of the account that the pages are about, where the person could act for several. */
export const AccountNameContext = createContext<string | undefined>(undefined);

/** The first page of a visit leaves the focus to the browser; later ones move it to their heading. */
let isFirstPage = true;

/**
 * Renders a page with its title, purpose and actions. On navigation, the heading takes the focus, so that it is
 * announced.
 */
export const Page = ({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: string | undefined;
  actions?: ReactNode;
  children: ReactNode;
}): ReactElement => {
  const { messages } = useCoreI18n();
  const heading = useRef<HTMLHeadingElement>(null);
  const { product } = messages.common;
  const accountName = use(AccountNameContext);
  useEffect(() => {
    document.title = [title, accountName, product].filter((part) => part !== undefined).join(' · ');
  }, [title, accountName, product]);
  useEffect(() => {
    if (!isFirstPage) {
      window.scrollTo(0, 0);
      heading.current?.focus({ preventScroll: true });
    }
    isFirstPage = false;
  }, []);
  return (
    <div className="page">
      <header className="page-header">
        <div>
          {accountName !== undefined && <p className="hint">{accountName}</p>}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p className="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
};
