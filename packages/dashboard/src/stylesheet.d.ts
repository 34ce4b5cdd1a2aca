/** The bundler includes the style sheet. */
declare module '*.css';
