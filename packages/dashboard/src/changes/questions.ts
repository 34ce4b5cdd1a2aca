/** The questions about a change, which are loaded when the first of them is asked. */
export { ConflictDialog } from './conflict-dialog.tsx';
export { ReasonDialog } from './note-field.tsx';
export { PausedGuard } from './paused-guard.tsx';
export { ProductionGuard } from './production-guard.tsx';
export { ProposeDialog, showProposed } from './propose-dialog.tsx';
