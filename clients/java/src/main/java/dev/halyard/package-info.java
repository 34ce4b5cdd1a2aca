/** Feature flags from Halyard, read from memory: a small client, and a provider for OpenFeature. */
package dev.halyard;
