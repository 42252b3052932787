export { InvoicesCard } from './invoices-card.tsx';
