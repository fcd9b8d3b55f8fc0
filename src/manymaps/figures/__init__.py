"""Pictures of atlases, senses and sweeps, drawn by matplotlib."""
