import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { useCoreI18n } from '../i18n/index.ts';

/** Renders the product's name, which links to the first page. */
export const Brand = (): ReactElement => {
  const { messages } = useCoreI18n();
  return (
    <Link to="/" className="brand" aria-label={messages.common.product}>
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="9" className="brand-ground" />
        <path d="M8 20.5c3.2 0 4.4-9 8-9s4.8 9 8 9" className="brand-line" />
      </svg>
      <span>svc</span>
    </Link>
  );
};
