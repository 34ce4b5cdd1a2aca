/** The bundler takes the style sheet in. */
declare module '*.css';
